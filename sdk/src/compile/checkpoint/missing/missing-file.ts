import type { Dirent } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../../artifact/error.ts";
import { entriesOf } from "../../files/only-files.ts";
import { configInstead } from "./config-instead.ts";
import type { Instead } from "./instead.ts";
import { modelsBelow } from "./models-below.ts";
import { tokenizerInstead } from "./tokenizer-instead.ts";
import { weightsInstead } from "./weights-instead.ts";

const USUAL =
  "Give a folder with config.json, tokenizer.json and model.safetensors, as transformers' save_pretrained() " +
  "writes them. A float32 model.onnx, as Optimum exports it, can replace model.safetensors.";

/** Number of files that are listed. */
const LISTED = 12;

/** Makes the error for a file that a model folder does not have. Looks at what the folder has instead. */
export function missingFile(folder: string, file: string): BertEdgeError {
  const entries = entriesOf(folder);
  const instead = insteadOf(folder, file, entries);
  return new BertEdgeError(
    instead?.code ?? "checkpoint_missing",
    `${join(folder, file)} does not exist${instead ? `, but ${instead.but}` : ""}.`,
    { hint: instead?.hint ?? `${USUAL}${listed(folder, entries)}` },
  );
}

function insteadOf(folder: string, file: string, entries: readonly Dirent[]): Instead | undefined {
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  if (file === "config.json") return configInstead(folder, names) ?? modelsBelow(folder, entries, file);
  if (file === "tokenizer.json") return tokenizerInstead(folder, names);
  return file === "model.safetensors" ? (weightsInstead(names) ?? modelsBelow(folder, entries, file)) : undefined;
}

function listed(folder: string, entries: readonly Dirent[]): string {
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  const more = names.length > LISTED ? ", …" : "";
  return names.length > 0 ? ` ${folder} has: ${names.slice(0, LISTED).join(", ")}${more}` : "";
}
