import { shown } from "../../../artifact/shown.ts";
import type { FileFaults } from "../../files/stored-file.ts";
import { PickleBytes } from "./pickle-bytes.ts";
import { PickleMachine } from "./pickle-machine.ts";
import { rebuild, storageOf } from "./rebuild.ts";
import { globalNamed, PickledDict, type PickledValue } from "./values.ts";

// The opcodes of Python's pickles, by name: https://docs.python.org/3/library/pickletools.html

/** Opcodes that the reader knows. PyTorch writes state dicts with these. */
export const opcodes = {
  MARK: 0x28,
  EMPTY_TUPLE: 0x29,
  STOP: 0x2e,
  BININT: 0x4a,
  BININT1: 0x4b,
  BININT2: 0x4d,
  NONE: 0x4e,
  BINPERSID: 0x51,
  REDUCE: 0x52,
  BINUNICODE: 0x58,
  BUILD: 0x62,
  GLOBAL: 0x63,
  BINGET: 0x68,
  LONG_BINGET: 0x6a,
  BINPUT: 0x71,
  LONG_BINPUT: 0x72,
  SETITEM: 0x73,
  TUPLE: 0x74,
  SETITEMS: 0x75,
  EMPTY_DICT: 0x7d,
  PROTO: 0x80,
  TUPLE1: 0x85,
  TUPLE2: 0x86,
  TUPLE3: 0x87,
  NEWTRUE: 0x88,
  NEWFALSE: 0x89,
  LONG1: 0x8a,
} as const;

/** Opcodes that the reader refuses, for messages. */
const refusedNames: Readonly<Record<number, string>> = {
  48: "POP",
  49: "POP_MARK",
  50: "DUP",
  66: "BINBYTES",
  67: "SHORT_BINBYTES",
  70: "FLOAT",
  71: "BINFLOAT",
  73: "INT",
  76: "LONG",
  80: "PERSID",
  83: "STRING",
  84: "BINSTRING",
  85: "SHORT_BINSTRING",
  86: "UNICODE",
  93: "EMPTY_LIST",
  97: "APPEND",
  100: "DICT",
  101: "APPENDS",
  103: "GET",
  105: "INST",
  108: "LIST",
  111: "OBJ",
  112: "PUT",
  129: "NEWOBJ",
  130: "EXT1",
  131: "EXT2",
  132: "EXT4",
  139: "LONG4",
  140: "SHORT_BINUNICODE",
  141: "BINUNICODE8",
  142: "BINBYTES8",
  143: "EMPTY_SET",
  144: "ADDITEMS",
  145: "FROZENSET",
  146: "NEWOBJ_EX",
  147: "STACK_GLOBAL",
  148: "MEMOIZE",
  149: "FRAME",
  150: "BYTEARRAY8",
  151: "NEXT_BUFFER",
  152: "READONLY_BUFFER",
};

/** Runs one opcode, and reads the opcode's arguments. */
type Step = (machine: PickleMachine, read: PickleBytes, faults: FileFaults) => void;

const byName: Readonly<Record<Exclude<keyof typeof opcodes, "STOP" | "PROTO">, Step>> = {
  NONE: (machine) => machine.push(null),
  NEWTRUE: (machine) => machine.push(true),
  NEWFALSE: (machine) => machine.push(false),
  BININT: (machine, read) => machine.push(read.int32()),
  BININT1: (machine, read) => machine.push(read.uint8()),
  BININT2: (machine, read) => machine.push(read.uint16()),
  LONG1: (machine, read) => machine.push(read.long(read.uint8())),
  BINUNICODE: (machine, read) => machine.push(read.text(read.uint32())),
  EMPTY_TUPLE: (machine) => machine.push([]),
  TUPLE1: (machine) => machine.push(machine.pop(1)),
  TUPLE2: (machine) => machine.push(machine.pop(2)),
  TUPLE3: (machine) => machine.push(machine.pop(3)),
  MARK: (machine) => machine.mark(),
  TUPLE: (machine) => machine.push(machine.popToMark()),
  EMPTY_DICT: (machine) => machine.push(new PickledDict()),
  SETITEM: (machine) => machine.setItems(machine.pop(2)),
  SETITEMS: (machine) => machine.setItems(machine.popToMark()),
  BUILD: (machine) => machine.build(),
  BINPUT: (machine, read) => machine.remember(read.uint8()),
  LONG_BINPUT: (machine, read) => machine.remember(read.uint32()),
  BINGET: (machine, read) => machine.recall(read.uint8()),
  LONG_BINGET: (machine, read) => machine.recall(read.uint32()),
  GLOBAL(machine, read, faults) {
    const name = `${read.line()}.${read.line()}`;
    const known = globalNamed(name);
    if (!known) throw faults.unsupported(`uses ${shown(name).slice(1, -1)}, which weights do not need`);
    machine.push(known);
  },
  BINPERSID(machine, _, faults) {
    const [id] = machine.pop(1);
    machine.push(storageOf(id as PickledValue, faults));
  },
  REDUCE(machine, _, faults) {
    const [called, args] = machine.pop(2);
    machine.push(rebuild(called as PickledValue, args as PickledValue, faults));
  },
};

/** Steps by opcode, without PROTO and STOP, the first and the last opcode of a pickle. */
const steps: ReadonlyMap<number, Step> = new Map(
  Object.entries(byName).map(([name, step]) => [opcodes[name as keyof typeof opcodes], step]),
);

/** Protocols whose opcodes PyTorch's own safe reader knows. `torch.save` writes 2. */
const PROTOCOLS = [2, 3];

/** Maximum number of opcodes. A pickle has up to 40 for each tensor of a model. Each opcode makes at most one small object. */
const MAX_OPCODES = 500_000;

/**
 * Reads a pickle of tensors. Nothing is called or imported: a global is a name that is looked up in a short list, and a call of
 * a function is a description of a tensor.
 *
 * @throws the error that `faults` makes, for a damaged pickle, and for every global and opcode that tensors do not need
 */
export function unpickle(bytes: Uint8Array, faults: FileFaults): PickledValue {
  const read = new PickleBytes(bytes, faults);
  if (read.uint8() !== opcodes.PROTO) throw faults.invalid("its pickle names no protocol");
  const protocol = read.uint8();
  if (!PROTOCOLS.includes(protocol)) throw faults.unsupported(`is a pickle of protocol ${protocol}`);
  const machine = new PickleMachine(faults);
  for (let count = 0; count < MAX_OPCODES; count++) {
    const opcode = read.uint8();
    if (opcode === opcodes.STOP) {
      if (!read.isAtEnd) throw faults.invalid("bytes follow its pickle");
      return machine.result();
    }
    const step = steps.get(opcode);
    if (!step) throw refused(opcode, faults);
    step(machine, read, faults);
  }
  throw faults.invalid(`its pickle has more than ${MAX_OPCODES} opcodes`);
}

function refused(opcode: number, faults: FileFaults): Error {
  const name = refusedNames[opcode];
  return name === undefined
    ? faults.invalid(`its pickle has an unknown opcode ${opcode}`)
    : faults.unsupported(`uses the pickle opcode ${name}, which weights do not need`);
}
