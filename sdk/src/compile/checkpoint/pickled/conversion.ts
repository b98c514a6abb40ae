import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { convertCommand, saveTensorsCommand } from "../../files/convert-command.ts";
import { readTextSync } from "../../files/regular-file.ts";

/** A command that saves a model as safetensors. */
export interface Conversion {
  readonly command: string;
  /** Path to give to bert-edge then; undefined if it is the same as before. */
  readonly to: string | undefined;
}

/** The part of config.json that names the model's class in transformers. */
const Architecture = v.fallback(
  v.pipe(v.string(), v.parseJson(), v.object({ architectures: v.looseTuple([v.string()]) })),
  { architectures: ["AutoModel"] },
);

/** Folder of a downloaded model in the cache of the Hub. Its files are shared with other commits, so nothing is saved there. */
const SNAPSHOT = /models--(?:[^/\\]+--)?([^/\\]+)[/\\]snapshots[/\\][^/\\]+[/\\]?$/;

/** Returns the command with which transformers or sentence-transformers saves a model folder as safetensors. */
export function conversionOf(folder: string): Conversion {
  const config = join(folder, "config.json");
  const { architectures } = v.parse(Architecture, existsSync(config) ? readTextSync(config) : "");
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
