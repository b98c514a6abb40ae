import { isWhiteSpace } from "../character-classes.ts";
import type { UnigramNormalizer } from "../packed-settings.ts";
import { addIdentity, type Origins } from "../token-places.ts";
import { applyCharsmap, type Charsmap } from "./charsmap.ts";
import { followReplacements, type OnReplaced } from "./follow-replacements.ts";

const BLANKS = / {2,}/g;

/**
 * Applies normalizers to a text, one after the other. Lone surrogates are read as U+FFFD.
 *
 * @param origins receives the origin of each UTF-16 unit
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function normalizeText(
  normalizers: readonly UnigramNormalizer[],
  charsmap: Charsmap,
  text: string,
  origins?: Origins,
): string {
  let normalized = text.toWellFormed();
  let from = origins && addIdentity([], normalized);
  for (const normalizer of normalizers) {
    const before = normalized;
    const moved = from && followReplacements(before, from);
    normalized = apply(normalizer, charsmap, before, moved?.onReplaced);
    from = moved?.end();
  }
  if (from) for (const position of from) origins?.push(position);
  return normalized;
}

function apply(normalizer: UnigramNormalizer, charsmap: Charsmap, text: string, onReplaced?: OnReplaced): string {
  switch (normalizer.type) {
    case "map":
      return applyCharsmap(charsmap, text, onReplaced);
    case "strip":
      return strip(text, normalizer, onReplaced);
    case "collapse":
      return text.replace(BLANKS, (blanks, at: number) => {
        // What is put in place of blanks comes from the last one.
        onReplaced?.(at, at + blanks.length - 1, "");
        onReplaced?.(at + blanks.length - 1, at + blanks.length, normalizer.content);
        return normalizer.content;
      });
  }
}

function strip(
  text: string,
  { left, right }: { readonly left: boolean; readonly right: boolean },
  onReplaced?: OnReplaced,
): string {
  let [start, end] = [0, text.length];
  if (right) while (end > start && isWhiteSpace(text.charAt(end - 1))) end--;
  if (left) while (start < end && isWhiteSpace(text.charAt(start))) start++;
  onReplaced?.(0, start, "");
  onReplaced?.(end, text.length, "");
  return text.slice(start, end);
}
