import { nextTurn } from "../../artifact/next-turn.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import type { Model } from "../../runtime/model.ts";
import type { ModelCall } from "../../runtime/tasks/task-call.ts";
import { charactersOf, type TextInput } from "../../runtime/text-input.ts";
import { checkSize } from "../check-query.ts";

/** Characters per part: about 3 ms of tokenizing. */
const PART_CHARACTERS = 64_000;

/** Whether inputs are encoded in more than one part. */
export const hasParts = (inputs: readonly TextInput[]): boolean =>
  inputs.length > 1 && inputs.reduce((sum, input) => sum + charactersOf(input), 0) > PART_CHARACTERS;

/**
 * Encodes the inputs of a call. Lets other requests run between the parts of a large one.
 *
 * @param most maximum number of sequences
 * @throws the errors of `Model.encode`; the reason of the signal when the caller has gone
 */
export async function encodeInParts(
  model: Pick<Model, "encode">,
  call: ModelCall<unknown>,
  signal: AbortSignal | undefined,
  most = Number.POSITIVE_INFINITY,
): Promise<TokenSequence[]> {
  const { inputs } = call;
  const all: TokenSequence[] = [];
  for (let start = 0; start < inputs.length; ) {
    if (start > 0) await nextTurn();
    signal?.throwIfAborted();
    let end = start;
    for (let room = PART_CHARACTERS; end < inputs.length && room > 0; end++) {
      room -= charactersOf(inputs[end] as TextInput);
    }
    all.push(...model.encode(call, { start, end, most: most - all.length }));
    // A text can have many parts.
    checkSize(all.length, most);
    start = end;
  }
  return all;
}
