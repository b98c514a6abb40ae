import { join } from "node:path/posix";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { ADAPTER_CONFIG } from "../adapter.ts";
import { vocabularyFiles } from "../missing/tokenizer-instead.ts";
import type { HubFile } from "./hub-file.ts";

interface Model extends HubModel {
  /** Folder of the Transformer module; empty for the model's own folder. */
  readonly folder: string;
}

/**
 * Refuses a model of the Hub whose files must be changed with Python before they can be read, before anything large is
 * downloaded.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for an adapter, `checkpoint_missing` for a model without tokenizer.json
 */
export function assertReadable(files: readonly HubFile[], model: Model): void {
  const has = (name: string) => files.some(({ path }) => path === join(model.folder, name));
  const { name, file } = model;
  if (file === undefined && has(ADAPTER_CONFIG)) {
    const what = has("config.json") ? "besides its model" : "but no model";
    throw new BertEdgeError("checkpoint_unsupported", `${name} has an adapter (${ADAPTER_CONFIG}), ${what}.`, {
      hint: `${download(model)} The error for this folder has the command that merges the adapter into its model.`,
    });
  }
  const vocabulary = vocabularyFiles.find(has);
  if (!has("tokenizer.json") && vocabulary !== undefined) {
    throw new BertEdgeError("checkpoint_missing", `${name} has no tokenizer.json, but ${vocabulary}.`, {
      hint: `${download(model)} The error for this folder has the command that makes tokenizer.json.`,
    });
  }
}

function download({ name, revision }: Model): string {
  const to = `./${name.split("/").at(-1)}`;
  const at = revision === "main" ? "" : ` --revision ${revision}`;
  return `Download it with \`hf download ${name}${at} --local-dir ${to}\`, and prepare ${to}.`;
}
