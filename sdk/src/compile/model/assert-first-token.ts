import { join } from "node:path";
import * as v from "valibot";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Task } from "../../artifact/manifest.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { TokenName } from "../checkpoint/tokenizer/token-names.ts";

const Config = v.object({ cls_token: v.nullish(TokenName) });

/**
 * Checks that a model for question answering reads its cls_token first. transformers takes the score of this token for that of no
 * answer, and it is part of all other scores.
 *
 * @param config content of tokenizer_config.json
 * @throws BertEdgeError `checkpoint_unsupported`
 */
export function assertFirstToken(folder: string, config: object, tokenizer: Tokenizer, { task }: Task): void {
  if (task !== "answer" || !("cls_token" in config) || !v.is(Config, config)) return;
  const { cls_token: named } = v.parse(Config, config);
  const [first] = idsOf(tokenizer.encodePair("", "", Number.POSITIVE_INFINITY).ids);
  if (named != null && first !== undefined && tokenizer.vocabulary.idOf(named) === first) return;
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${join(folder, "tokenizer_config.json")}: cls_token is ${JSON.stringify(named)}, which is not the first token of a question. This is not supported so far.`,
    { hint: "Correct cls_token, or the post_processor of tokenizer.json." },
  );
}
