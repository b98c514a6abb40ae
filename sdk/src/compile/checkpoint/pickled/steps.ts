import { shown } from "../../../artifact/shown.ts";
import type { FileFaults } from "../../files/file-faults.ts";
import { globalNamed } from "./globals.ts";
import { opcodes } from "./opcodes.ts";
import type { PickleBytes } from "./pickle-bytes.ts";
import type { PickleMachine } from "./pickle-machine.ts";
import { rebuild, storageOf } from "./rebuild.ts";
import { PickledDict, type PickledValue } from "./values.ts";

/** Does what one opcode says. Reads its arguments. */
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

/** Steps of the opcodes, except for the first and the last of a pickle. */
export const steps: ReadonlyMap<number, Step> = new Map(
  Object.entries(byName).map(([name, step]) => [opcodes[name as keyof typeof opcodes], step]),
);
