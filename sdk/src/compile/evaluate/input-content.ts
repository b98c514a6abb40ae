import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { attendedOf, idsOf, secondFromOf } from "../../runtime/engine/token-sequence.ts";

/** Returns the numbers of one sequence for an input of a model: its token ids, mask or token types; zeros for other names. */
export function inputContent(name: string, sequence: TokenSequence): TokenIds {
  const ids = idsOf(sequence);
  if (name === "input_ids") return ids;
  if (name === "attention_mask") return ids.map((_, token) => (token < attendedOf(sequence) ? 1 : 0));
  const types = ids.map(() => 0);
  return name === "token_type_ids" ? types.fill(1, secondFromOf(sequence)) : types;
}
