import { existsSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { pythonCommand, saveTensorsCommand } from "../files/python-command.ts";

/** Parts of the names that PEFT gives to the tensors of a layer while its adapter is not merged. */
const UNMERGED = /\.(base_layer|lora_[A-Za-z_]+|modules_to_save)\./;

/** Maximum number of tensor names in the hint. */
const EXAMPLES = 3;

/**
 * Makes the error for a tensor that a checkpoint does not have. Looks for two causes: an adapter that is not merged, and a
 * wrapper of the model that put a prefix before the tensor's name.
 *
 * @param wanted the tensor's name
 * @param shape the shape that the tensor should have
 * @param names names of the checkpoint's tensors
 */
export function missingTensor(
  folder: string,
  wanted: string,
  shape: readonly number[],
  names: readonly string[],
): BertEdgeError {
  const what = `${folder} has no tensor ${wanted} of shape [${shape}]`;
  const wrapped = names.find((name) => name.endsWith(`.${wanted}`));
  if (names.some((name) => UNMERGED.test(name))) {
    const example = names.find((name) => UNMERGED.test(name));
    return invalid(`${what}: its layers have an adapter that is not merged, such as ${example}`, {
      hint: "Load the model with PEFT, and save what merge_and_unload() returns.",
    });
  }
  if (wrapped === undefined) {
    const examples = names.slice(0, EXAMPLES).join(", ");
    return invalid(what, {
      hint: `config.json and the weights must come from the same model. First tensors of the checkpoint: ${examples || "none"}.`,
    });
  }
  const prefix = wrapper(wrapped.slice(0, -wanted.length), names);
  return invalid(`${what}, but it has ${wrapped}: a wrapper has put ${prefix} before the names`, {
    hint: `Save the model that is inside of the wrapper, with save_pretrained()${renaming(folder, prefix)}`,
  });
}

const invalid = (what: string, details: { readonly hint: string }) =>
  new BertEdgeError("checkpoint_invalid", `${what}.`, details);

/** Returns the wrapper's prefix: the longest part of `before` with which all names begin, or else all of `before`. */
function wrapper(before: string, names: readonly string[]): string {
  const parts = before.split(".").slice(0, -1);
  const starts = parts.map((_, i) => `${parts.slice(0, i + 1).join(".")}.`);
  return starts.findLast((start) => names.every((name) => name.startsWith(start))) ?? before;
}

/** Returns the end of the hint. It has the command that removes the prefix from the names if the tensors are in one file. */
function renaming(folder: string, prefix: string): string {
  const [safe, pickled] = ["model.safetensors", "pytorch_model.bin"].map((file) => join(folder, file));
  const renamed = (tensors: string) => `{k.removeprefix(${JSON.stringify(prefix)}): v for k, v in ${tensors}.items()}`;
  if (safe !== undefined && existsSync(safe)) {
    return `, or rename the tensors:\n    ${renameCommand(safe, renamed("load_file(p)"))}`;
  }
  if (pickled === undefined || !existsSync(pickled)) return ".";
  const loaded = renamed(`torch.load(${JSON.stringify(pickled)}, weights_only=True)`);
  return `, or rename the tensors:\n    ${saveTensorsCommand(loaded, join(folder, "model.safetensors"))}`;
}

const renameCommand = (path: string, renamed: string): string =>
  pythonCommand(
    [
      "import os; from safetensors.torch import load_file, save_file",
      `p = ${JSON.stringify(path)}`,
      `save_file(${renamed}, p + ".new", {"format": "pt"})`,
      'os.replace(p + ".new", p)',
    ].join("; "),
  );
