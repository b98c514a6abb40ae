import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TaskName } from "../../artifact/manifest.ts";
import type { ShippedTokenizer } from "../pack/tokenizer/pack-tokenizer.ts";

/** Tasks whose answers are parts of texts. */
const placing: readonly TaskName[] = ["tag", "answer"];

/**
 * Checks that a tokenizer knows where tokens are in a text, if the task needs it.
 *
 * @param folder folder of the tokenizer, for the error message
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertPlaces(folder: string, { manifest }: Pick<ShippedTokenizer, "manifest">, task: TaskName): void {
  if (manifest.kind === "packed" || !placing.includes(task)) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `The task ${task} needs the places of tokens in a text, and the tokenizer ${join(folder, "tokenizer.json")} does not give them, because it has no packed form.`,
    {
      hint: "Prepare a model whose tokenizer has a packed form: the page Limits lists their parts, and `npx bert-edge models` lists models.",
    },
  );
}
