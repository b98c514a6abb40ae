import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import type { TokenSequence } from "../engine/engine.ts";
import { faultOfMarks, idsOf } from "../engine/token-sequence.ts";
import type { TextInput } from "../text-input.ts";
import type { Truncation } from "../truncation.ts";
import { ENCODED, type ModelOutput, type TaskCall } from "./task-call.ts";

/** Inputs that the model's tokenizer encodes. */
interface Unencoded {
  readonly inputs: readonly TextInput[];
  readonly truncate: Truncation;
}

/**
 * Calls any model. The result is the model's output for each sequence: see `Model.run`.
 *
 * @param given sequences, or inputs that are one sequence each
 */
export function outputsCall(
  given: readonly TokenSequence[] | Unencoded,
): TaskCall<readonly ModelOutput[], ModelOutput> {
  const decode = (outputs: readonly ModelOutput[]) => outputs;
  if ("inputs" in given) {
    const { inputs, truncate } = given;
    return { texts: inputs.map(String), on: () => ({ inputs, truncate, decode }) };
  }
  const inputs = given.map(() => ENCODED);
  return {
    texts: inputs,
    on(manifest) {
      for (const [index, sequence] of given.entries()) assertRuns(sequence, index, manifest);
      return {
        inputs,
        truncate: false,
        encoder: () => (_, index) => ({ sequences: [given[index] as TokenSequence] }),
        decode,
      };
    },
  };
}

/**
 * Checks token ids that a caller gives. The edge engine refuses the same ids, but reports them as a fault of this server. Engines of
 * onnxruntime do not check them.
 *
 * @throws BertEdgeError `request_invalid` when the model cannot run a sequence
 */
function assertRuns(sequence: TokenSequence, index: number, { name, maxTokens, vocabulary }: Manifest): void {
  const ids = idsOf(sequence);
  const fault =
    ids.length === 0 || ids.length > maxTokens
      ? `has ${ids.length} tokens, but ${name} accepts 1 to ${maxTokens}`
      : !ids.every((id) => id >= 0 && id < vocabulary)
        ? `has a token id outside of 0 to ${vocabulary - 1}`
        : faultOfMarks(sequence);
  if (fault === undefined) return;
  throw new BertEdgeError("request_invalid", `Sequence ${index} ${fault}.`, {
    hint: "Encode the text with the tokenizer of the same version of the model.",
    index,
  });
}
