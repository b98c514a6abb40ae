import type { Tokenizer } from "#sdk/runtime/tokenizer/tokenizer.ts";
import type { FuzzedPair } from "./fuzzed-pairs.ts";

/** Encodes pairs of texts. Returns the token ids and then the token types of each pair. */
export const idsAndTypes = ({ encodePair }: Tokenizer, pairs: readonly FuzzedPair[]): number[][] =>
  pairs.map(([first, second, maxTokens]) => {
    const { ids, secondFrom } = encodePair(first, second, maxTokens);
    return [...ids, ...Array.from(ids, (_, i) => Number(i >= secondFrom))];
  });
