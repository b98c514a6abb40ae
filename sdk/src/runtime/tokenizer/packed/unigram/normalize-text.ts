import { isWhiteSpace } from "../character-classes.ts";
import type { UnigramNormalizer } from "../packed-settings.ts";
import { applyCharsmap, type Charsmap } from "./charsmap.ts";

const BLANKS = / {2,}/g;

/**
 * Applies normalizers to a text, one after the other. Lone surrogates are read as U+FFFD.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export const normalizeText = (normalizers: readonly UnigramNormalizer[], charsmap: Charsmap, text: string): string =>
  normalizers.reduce((before, normalizer) => apply(normalizer, charsmap, before), text.toWellFormed());

function apply(normalizer: UnigramNormalizer, charsmap: Charsmap, text: string): string {
  switch (normalizer.type) {
    case "map":
      return applyCharsmap(charsmap, text);
    case "strip":
      return strip(text, normalizer);
    case "collapse":
      return text.replace(BLANKS, () => normalizer.content);
  }
}

function strip(text: string, { left, right }: { left: boolean; right: boolean }): string {
  let [start, end] = [0, text.length];
  if (right) while (end > start && isWhiteSpace(text.charAt(end - 1))) end--;
  if (left) while (start < end && isWhiteSpace(text.charAt(start))) start++;
  return text.slice(start, end);
}
