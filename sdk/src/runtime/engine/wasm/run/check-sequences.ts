import { BertEdgeError } from "../../../../artifact/error.ts";
import type { TokenIds } from "../../engine.ts";
import type { Program } from "./program.ts";

/**
 * Checks sequences against the limits of a model.
 *
 * @throws BertEdgeError `input_invalid` for a sequence that is empty, is longer than `maxTokens`, or has a token id outside
 *   the vocabulary
 */
export function checkSequences(
  sequences: readonly TokenIds[],
  { maxTokens, vocabulary }: Pick<Program, "maxTokens" | "vocabulary">,
): void {
  sequences.forEach((sequence, index) => {
    const fault =
      sequence.length === 0 || sequence.length > maxTokens
        ? `has ${sequence.length} tokens; the model takes 1 to ${maxTokens}`
        : sequence.some((id) => id < 0 || id >= vocabulary)
          ? `has a token id outside the model's vocabulary of ${vocabulary}`
          : undefined;
    if (fault) {
      throw new BertEdgeError("input_invalid", `Sequence ${index} ${fault}.`, {
        hint: "Tokenize texts with the model's own tokenizer, and truncate them to its maximum length.",
      });
    }
  });
}
