import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { attendedOf, idsOf, secondFromOf } from "../../runtime/engine/token-sequence.ts";
import { inputRole } from "../graph/input-role.ts";

/** Returns the numbers of one sequence for an input of a model: its token ids, mask or token types; zeros for other inputs. */
export function inputContent(name: string, sequence: TokenSequence): TokenIds {
  const ids = idsOf(sequence);
  const role = inputRole(name);
  if (role === "input_ids") return ids;
  if (role === "attention_mask") return ids.map((_, token) => (token < attendedOf(sequence) ? 1 : 0));
  const types = ids.map(() => 0);
  return role === "token_type_ids" ? types.fill(1, secondFromOf(sequence)) : types;
}
