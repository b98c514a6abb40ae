import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { convertCommand, saveTensorsCommand } from "../../files/python-command.ts";
import type { FileFaults } from "../../files/stored-file.ts";
import { MAX_JSON_BYTES, wholeTextSync } from "../../files/whole-file.ts";

/**
 * Makes the errors of a file that PyTorch wrote.
 *
 * @param conversion returns the command that converts a file that is not supported
 */
export const pickleFaults = (path: string, conversion: () => Conversion): FileFaults => ({
  invalid: (fault, cause) =>
    new BertEdgeError("checkpoint_invalid", `${path} is not a valid PyTorch file: ${fault}.`, {
      hint: "The download may be incomplete, or the file may be a Git LFS pointer: download it again.",
      cause,
    }),
  unsupported(fault) {
    const { command, to } = conversion();
    return new BertEdgeError("checkpoint_unsupported", `${path} ${fault}.`, {
      hint:
        "Reading such a file can run any code, so bert-edge reads only what tensors need. If you trust the model, save it as " +
        "safetensors with the model's own library and torch 2.6 or newer, which runs only code in its list of safe functions" +
        `${to === undefined ? "" : `. Then give ${to}`}:\n    ${command}\n` +
        "Or give its ONNX export, if it has one.",
    });
  },
});

/** A command that saves a model as safetensors. */
export interface Conversion {
  readonly command: string;
  /** Path to give to bert-edge after the conversion; undefined if the path stays the same. */
  readonly to: string | undefined;
}

/** The part of config.json that names the model's class in transformers. */
const Architecture = v.fallback(
  v.pipe(v.string(), v.parseJson(), v.object({ architectures: v.looseTuple([v.string()]) })),
  { architectures: ["AutoModel"] },
);

/** Path of a downloaded model in the cache of the Hub. Other commits share its files, so a conversion saves to another folder. */
const SNAPSHOT = /models--(?:[^/\\]+--)?([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\]?$/;

/** Returns the command with which transformers or sentence-transformers saves a model folder as safetensors. */
export function conversionOf(folder: string): Conversion {
  const config = join(folder, "config.json");
  const { architectures } = v.parse(Architecture, existsSync(config) ? wholeTextSync(config, MAX_JSON_BYTES) : "");
  const isSentenceEncoder = existsSync(join(folder, "modules.json"));
  const name = SNAPSHOT.exec(folder)?.[1];
  const to = name && `./${name}`;
  return {
    command: convertCommand({ from: folder, to: to ?? folder, architecture: architectures[0], isSentenceEncoder }),
    to,
  };
}

/**
 * Returns the command that saves tensors as model.safetensors in the folder of a file.
 *
 * @param tensors Python expression of a dict of tensors
 */
export const conversionOfTensors = (path: string, tensors: string): Conversion => ({
  command: saveTensorsCommand(tensors, join(dirname(path), "model.safetensors")),
  to: undefined,
});
