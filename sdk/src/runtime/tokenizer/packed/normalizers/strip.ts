import { isWhiteSpace } from "../character-classes.ts";
import type { OnReplaced } from "./follow-replacements.ts";

/** Removes the white space at the start (`left`) and at the end (`right`) of a text. */
export function strip(
  text: string,
  { left, right }: { readonly left: boolean; readonly right: boolean },
  onReplaced?: OnReplaced,
): string {
  let [start, end] = [0, text.length];
  if (right) while (end > start && isWhiteSpace(text.charAt(end - 1))) end--;
  if (left) while (start < end && isWhiteSpace(text.charAt(start))) start++;
  if (start > 0) onReplaced?.(0, start, "");
  if (end < text.length) onReplaced?.(end, text.length, "");
  return text.slice(start, end);
}
