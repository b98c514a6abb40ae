import { BertEdgeError } from "../../../../artifact/error.ts";
import type { TokenSequence } from "../../engine.ts";
import { faultOfMarks, idsOf, secondFromOf } from "../../token-sequence.ts";
import type { Program } from "./program.ts";

/**
 * Checks sequences against the limits of a model.
 *
 * @throws BertEdgeError `input_invalid` for a sequence that is empty, is longer than `maxTokens`, has a token id outside
 *   the vocabulary, has marks that do not fit its tokens, or has tokens of type 1 although the model takes single texts
 */
export function checkSequences(
  sequences: readonly TokenSequence[],
  { maxTokens, vocabulary, pairs = false }: Pick<Program, "maxTokens" | "vocabulary" | "pairs">,
): void {
  sequences.forEach((sequence, index) => {
    const ids = idsOf(sequence);
    const secondFrom = secondFromOf(sequence);
    const fault =
      ids.length === 0 || ids.length > maxTokens
        ? `has ${ids.length} tokens; the model takes 1 to ${maxTokens}`
        : ids.some((id) => id < 0 || id >= vocabulary)
          ? `has a token id outside the model's vocabulary of ${vocabulary}`
          : (faultOfMarks(sequence) ??
            (secondFrom < ids.length && !pairs ? "is a pair of texts; the model takes single texts" : undefined));
    if (fault) {
      throw new BertEdgeError("input_invalid", `Sequence ${index} ${fault}.`, {
        hint: "Tokenize texts with the model's own tokenizer, and truncate them to its maximum length.",
      });
    }
  });
}
