import { shown } from "../../../artifact/shown.ts";
import type { StoredFile } from "../../files/stored-file.ts";
import type { Tensor } from "../../graph/tensor.ts";
import { openArchive } from "./archive.ts";
import { type Conversion, conversionOfTensors, pickleFaults } from "./pickle-faults.ts";
import { StoredTensors } from "./stored-tensors.ts";
import { unpickle } from "./unpickle.ts";
import { isTensor, kindOf, PickledDict, type PickledValue } from "./values.ts";

/** Names that may be part of a command. */
const PLAIN = /^\w{1,50}$/;

/**
 * Returns the tensors of a file that `torch.save` wrote, by name. Runs nothing that the file names. Large tensors are read at
 * each access.
 *
 * @param path path of the file, for errors
 * @param conversion returns the command that saves the model as safetensors
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for content that tensors do not need
 */
export function readPickled(file: StoredFile, path: string, conversion: () => Conversion): Map<string, Tensor> {
  const faults = pickleFaults(path, conversion);
  /** Makes errors whose command saves the tensors of a Python expression. transformers refuses such files, so torch reads them. */
  const convertedBy = (python: string) => pickleFaults(path, () => conversionOfTensors(path, python));
  const { pickle, isTorchScript, locate } = openArchive(file, faults);
  if (isTorchScript) {
    throw convertedBy(`torch.jit.load(${JSON.stringify(path)}, "cpu").state_dict()`).unsupported(
      "is a TorchScript archive",
    );
  }
  const states = unpickle(pickle, faults);
  if (!(states instanceof PickledDict))
    throw faults.unsupported(`has ${described(states)} instead of a dict of tensors`);
  const stored = new StoredTensors(file, locate, faults);
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of states.entries()) {
    if (!isTensor(value)) {
      const inner = `torch.load(${JSON.stringify(path)}, "cpu", weights_only=True)["${name}"]`;
      throw (isStateDict(value) && PLAIN.test(name) ? convertedBy(inner) : faults).unsupported(
        `has ${described(value)} with the name ${shown(name)} instead of a tensor`,
      );
    }
    tensors.set(name, stored.make(name, value));
  }
  return tensors;
}

const isStateDict = (value: PickledValue): boolean =>
  value instanceof PickledDict && [...value.entries()].some(([, each]) => isTensor(each));

const described = (value: PickledValue): string =>
  Array.isArray(value) ? "a tuple" : kindOf(value) ? `a ${kindOf(value)}` : shown(value);
