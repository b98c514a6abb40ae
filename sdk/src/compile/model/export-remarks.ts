import { relative } from "node:path";
import type { Task } from "../../artifact/manifest.ts";
import type { EncoderConfig } from "../checkpoint/encoder-config.ts";
import { isUsualExtra } from "../checkpoint/export-outputs.ts";
import { sizesIn } from "../checkpoint/open-sizes.ts";
import type { FolderGraph } from "./folder-graph.ts";
import { takesPairs } from "./run-task.ts";

interface RemarkInput {
  readonly folder: string;
  readonly config: Pick<EncoderConfig, "tokenTypes">;
  readonly task: Task;
  /** Name of the output that showed how to pool; undefined without one. */
  readonly vector: string | undefined;
  /** Maximum tokens of a text, as the folder's files state it. */
  readonly stated: number;
}

/**
 * Describes the ONNX file that a model was read from: why it was chosen, which of its outputs are not used, and what it lacks.
 *
 * @returns sentences; none for a model that was read from weights
 */
export function exportRemarks(read: FolderGraph, input: RemarkInput): string[] {
  return [
    ...choiceRemarks(read, input.folder),
    ...sizeRemarks(read, input),
    ...outputRemarks(read, input),
    ...typeRemarks(read, input),
  ];
}

/** Says which of a folder's ONNX files was read, and why. */
function choiceRemarks({ file, choice }: FolderGraph, folder: string): string[] {
  if (!file || !choice || choice.unfit.length + choice.untried.length === 0) return [];
  const names = choice.untried.map((path) => relative(folder, path)).join(", ");
  return [
    `The folder has several ONNX files. ${relative(folder, file.path)} was read: ` +
      (choice.unfit.length === 0
        ? "the first of them that may be a float32 export."
        : `it is the first that can be prepared. ${choice.unfit.map(({ error }) => error.message).join(" ")}`) +
      (names === "" ? "" : ` To read another one, give its path: ${names}.`),
  ];
}

/** Says that a file has fixed sizes, and whether its fixed length cuts texts. */
function sizeRemarks({ file }: FolderGraph, { folder, stated }: RemarkInput): string[] {
  if (!file?.fixed) return [];
  const { texts, tokens } = file.fixed;
  const name = relative(folder, file.path);
  const length =
    tokens !== undefined && tokens < stated
      ? ` Longer texts are cut: export the model with a dynamic length to read up to ${stated} tokens.`
      : "";
  return [
    `${name} takes only inputs of ${sizesIn([texts, tokens])}. Its graph was changed to take others, and compared with the file on padded inputs.${length}`,
  ];
}

/** Names the outputs that are not used, apart from those that encoders of transformers usually have. */
function outputRemarks({ file }: FolderGraph, { folder, vector }: RemarkInput): string[] {
  const unused = file?.others.filter((name) => name !== vector && !isUsualExtra(name)) ?? [];
  if (!file || unused.length === 0) return [];
  return [`Outputs of ${relative(folder, file.path)} that are not used: ${unused.join(", ")}.`];
}

/** Says that an export has no input for token types, although the model reads pairs and has token types. */
function typeRemarks({ file, graph }: FolderGraph, { folder, config, task }: RemarkInput): string[] {
  const hasTypes = graph.inputs.some(({ name }) => name === "token_type_ids");
  if (!file || hasTypes || config.tokenTypes < 2 || !takesPairs(task)) return [];
  return [
    `${relative(folder, file.path)} has no input token_type_ids, although config.json has ${config.tokenTypes} token types. Both texts of a pair therefore have type 0, ` +
      "as when Optimum runs this file. If the model was trained with types, export it with this input.",
  ];
}
