import { describeFiles } from "../../artifact/describe-file.ts";
import { MANIFEST_FORMAT, type Manifest } from "../../artifact/manifest.ts";
import type { TextModel } from "../model/text-model.ts";

/** @param files the models of the targets and the files of the tokenizer */
export const manifestOf = async (
  name: string,
  { task, maxTokens, config, tokenizer }: TextModel,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  targets: Manifest["targets"],
): Promise<Manifest> => ({
  format: MANIFEST_FORMAT,
  name,
  ...task,
  maxTokens,
  vocabulary: config.vocab_size,
  tokenizer: tokenizer.manifest,
  files: await describeFiles(files),
  targets,
});
