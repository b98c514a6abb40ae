import type { Manifest } from "../artifact/manifest.ts";
import type { TokenSequence } from "./engine/engine.ts";
import { inputTooLong } from "./input-too-long.ts";
import type { TextInput } from "./text-input.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "./truncation.ts";

interface OneInput {
  readonly input: TextInput;
  /** Position of the input, for error messages. */
  readonly index: number;
  /** Whether an input that is too long is cut. Otherwise it is refused. */
  readonly truncate: Truncation;
}

/**
 * Encodes a text or a pair as one sequence.
 *
 * @throws BertEdgeError `input_too_long`, and the errors of the tokenizer
 */
export function encodeInput(
  tokenizer: Tokenizer,
  manifest: Pick<Manifest, "name" | "maxTokens">,
  { input, index, truncate }: OneInput,
): TokenSequence {
  const { maxTokens } = manifest;
  const side = sideOf(truncate);
  const encoded =
    typeof input === "string"
      ? tokenizer.encode(input, maxTokens, side)
      : tokenizer.encodePair(...input, maxTokens, side);
  if (encoded.tokens > maxTokens && !truncate) throw inputTooLong(manifest, index, encoded.tokens);
  return "secondFrom" in encoded ? encoded : encoded.ids;
}
