import type { Manifest } from "../artifact/manifest.ts";
import type { TokenSequence } from "./engine/engine.ts";
import { inputTooLong } from "./input-too-long.ts";
import type { TextInput } from "./text-input.ts";
import type { EncodedPair, Tokenizer } from "./tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "./truncation.ts";

/**
 * Returns a function that encodes each input of a call as a sequence. If consecutive pairs have the same first text, such as the query
 * of a reranker, this text is tokenized only once.
 *
 * @param truncate whether an input that is too long is cut. Otherwise the function throws BertEdgeError `input_too_long`
 */
export function inputEncoder(
  tokenizer: Tokenizer,
  manifest: Pick<Manifest, "name" | "maxTokens">,
  truncate: Truncation,
): (input: TextInput, index: number) => TokenSequence {
  const { maxTokens } = manifest;
  const side = sideOf(truncate, tokenizer);
  let last: { readonly first: string; readonly encode: (second: string) => EncodedPair } | undefined;

  function pairOf([first, second]: readonly [string, string]): EncodedPair {
    if (last?.first !== first) last = { first, encode: tokenizer.pairsWith(first, maxTokens, side) };
    return last.encode(second);
  }

  return (input, index) => {
    const encoded = typeof input === "string" ? tokenizer.encode(input, maxTokens, side) : pairOf(input);
    if (encoded.tokens > maxTokens && !truncate) throw inputTooLong(manifest, index, encoded.tokens);
    return "secondFrom" in encoded ? encoded : encoded.ids;
  };
}
