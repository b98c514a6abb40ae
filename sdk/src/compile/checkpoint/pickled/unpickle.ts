import type { FileFaults } from "../../files/file-faults.ts";
import { Machine } from "./machine.ts";
import { nameOfRefused, opcodes } from "./opcodes.ts";
import { PickleBytes } from "./pickle-bytes.ts";
import { steps } from "./steps.ts";
import type { PickledValue } from "./values.ts";

/** Protocols whose opcodes PyTorch's own safe reader knows. `torch.save` writes 2. */
const PROTOCOLS = [2, 3];

/** Maximum number of opcodes. They are some 50 for each tensor of a model, and each makes at most one small object. */
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
  const machine = new Machine(faults);
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
  const name = nameOfRefused(opcode);
  return name === undefined
    ? faults.invalid(`its pickle has an unknown opcode ${opcode}`)
    : faults.unsupported(`uses the pickle opcode ${name}, which weights do not need`);
}
