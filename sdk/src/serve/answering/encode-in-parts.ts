import { nextTurn } from "../../artifact/next-turn.ts";
import type { Model } from "../../runtime/model.ts";
import { encodedCall, encoderOf } from "../../runtime/tasks/encoded-call.ts";
import type { EncodedCall, EncodedInput, ModelCall } from "../../runtime/tasks/task-call.ts";
import { charactersOf, type TextInput } from "../../runtime/text-input.ts";
import { checkSize } from "../check-query.ts";

/** Characters per part: about 3 ms of tokenizing. */
const PART_CHARACTERS = 64_000;

/** Whether inputs are encoded in more than one part. */
export const hasParts = (inputs: readonly TextInput[]): boolean =>
  inputs.length > 1 && inputs.reduce((sum, input) => sum + charactersOf(input), 0) > PART_CHARACTERS;

/**
 * Encodes the inputs of a call. Lets other requests run between the parts of a large call.
 *
 * @param most maximum number of sequences
 * @throws the errors of `Model.encode`; the abort reason of `signal` when the caller has gone
 */
export async function encodeInParts<R, Part>(
  model: Pick<Model, "tokenizer" | "manifest">,
  call: ModelCall<R, Part>,
  signal: AbortSignal | undefined,
  most = Number.POSITIVE_INFINITY,
): Promise<EncodedCall<R>> {
  const encode = encoderOf(call, model);
  const encoded: EncodedInput<Part>[] = [];
  let size = 0;
  let room = PART_CHARACTERS;
  for (const [index, input] of call.inputs.entries()) {
    if (room <= 0) {
      // A text can become many sequences, so their number is checked before each further part.
      checkSize(size, most);
      await nextTurn();
      room = PART_CHARACTERS;
    }
    signal?.throwIfAborted();
    const found = encode(input, index, most - size);
    encoded.push(found);
    size += found.sequences.length;
    room -= charactersOf(input);
  }
  checkSize(size, most);
  return encodedCall(call, encoded);
}
