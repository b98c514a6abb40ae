import { isWhiteSpace } from "../character-classes.ts";
import type { Step } from "../packed-header.ts";
import { type Charsmap, mapped } from "./charsmap.ts";

const BLANKS = / {2,}/g;

/**
 * A text after all steps; lone surrogates are read as U+FFFD.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export const normalized = (steps: readonly Step[], charsmap: Charsmap, text: string): string =>
  steps.reduce((before, step) => after(step, charsmap, before), text.toWellFormed());

function after(step: Step, charsmap: Charsmap, text: string): string {
  switch (step.type) {
    case "map":
      return mapped(charsmap, text);
    case "strip":
      return stripped(text, step);
    case "collapse":
      return text.replace(BLANKS, () => step.content);
  }
}

function stripped(text: string, { left, right }: { left: boolean; right: boolean }): string {
  let [start, end] = [0, text.length];
  if (right) while (end > start && isWhiteSpace(text.charAt(end - 1))) end--;
  if (left) while (start < end && isWhiteSpace(text.charAt(start))) start++;
  return text.slice(start, end);
}
