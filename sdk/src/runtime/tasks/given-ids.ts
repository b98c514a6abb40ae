import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import type { TokenIds } from "../engine/engine.ts";
import { inputTooLong } from "../input-too-long.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "../truncation.ts";

interface GivenIds {
  readonly ids: readonly number[];
  /** Position of the input, for error messages. */
  readonly index: number;
  /** Whether to cut ids that are too many. Otherwise they are refused. */
  readonly truncate: Truncation;
}

/**
 * Checks token ids that a caller gives instead of a text. They must have the special tokens that the model's own tokenizer puts
 * around texts: ids of another tokenizer would give vectors too, but wrong ones.
 *
 * @throws BertEdgeError `request_invalid`, `input_too_long`
 */
export function checkedIds(
  tokenizer: Tokenizer,
  { name, maxTokens, vocabulary }: Pick<Manifest, "name" | "maxTokens" | "vocabulary">,
  { ids, index, truncate }: GivenIds,
): TokenIds {
  const around = tokenizer.encode("", maxTokens).ids;
  const [first, last] = [around.at(0), around.at(-1)];
  const isMarked = first === undefined || (ids.length > 1 && ids[0] === first && ids.at(-1) === last);
  if (!isMarked || ids.length === 0 || !ids.every((id) => id < vocabulary)) {
    throw new BertEdgeError("request_invalid", `Input ${index} does not have token ids of ${name}.`, {
      hint: `Send texts, or ids of its own tokenizer with special tokens (${around.join(" … ")}). LangChain sends ids of OpenAI's tokenizer, unless check_embedding_ctx_length is False.`,
      index,
    });
  }
  if (ids.length <= maxTokens) return Int32Array.from(ids);
  if (!truncate) throw inputTooLong({ name, maxTokens }, index, ids.length);
  const fromLeft = sideOf(truncate, tokenizer) === "left";
  const kept = Int32Array.from(fromLeft ? ids.slice(-maxTokens) : ids.slice(0, maxTokens));
  if (first !== undefined && fromLeft) kept[0] = first;
  if (last !== undefined) kept[maxTokens - 1] = last;
  return kept;
}
