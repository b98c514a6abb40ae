import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Task } from "../../artifact/manifest.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { MIN_TOKENS } from "../checkpoint/encoder-config.ts";

/**
 * Checks that a tokenizer encodes pairs, if the task needs it.
 *
 * @throws BertEdgeError `pairs_unsupported`
 */
export function assertPairs(tokenizer: Tokenizer, task: Task): void {
  const readsPairs = task.task === "answer" || (task.task === "classify" && task.input === "pair");
  if (readsPairs) tokenizer.encodePair("", "", Number.POSITIVE_INFINITY);
}

/**
 * Checks that every text has a token: encoders compute nothing from none.
 *
 * @param folder folder of the tokenizer, for the error message
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertSpecialTokens(folder: string, tokenizer: Tokenizer): void {
  if (tokenizer.encode("", MIN_TOKENS).ids.length > 0) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, "tokenizer.json")} puts no special tokens around texts, so that empty texts have no tokens. This is not supported so far.`,
    { hint: "Give tokenizer.json the post_processor with which the model was trained." },
  );
}
