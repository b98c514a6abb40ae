import { compose } from "../byte-level/compose.ts";
import type { NormalizerStep } from "../packed-settings.ts";
import { addIdentity, type Origins } from "../token-places.ts";
import { applyCharsmap, type Charsmap, type NormalizerArrays, openCharsmaps } from "./charsmap.ts";
import { type FollowOrigins, followChanges, followReplacements, type OnReplaced } from "./follow-replacements.ts";
import { BLANKS, literally, prepend, replaceAll, SPACES } from "./replace-all.ts";
import { strip } from "./strip.ts";
import { placedForm } from "./unicode-form.ts";

/**
 * Normalizes a text. Lone surrogates are read as U+FFFD.
 *
 * @param origins receives the origin of each UTF-16 unit
 * @throws BertEdgeError `tokenizer_invalid`
 */
export type NormalizeText = (text: string, origins?: Origins) => string;

/** Applies a normalizer step. If it gets the origins of the text's units, it also returns the origins of the result's units. */
type Step = (text: string, origins?: Origins) => readonly [text: string, origins?: Origins | undefined];

/**
 * Opens the normalizers of a packed tokenizer. They apply one after the other.
 *
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function openNormalizer(steps: readonly NormalizerStep[], arrays: NormalizerArrays): NormalizeText {
  const charsmaps = openCharsmaps(arrays);
  const opened = steps.map((step) => openStep(step, charsmaps));
  return (text, origins) => {
    let normalized = text.toWellFormed();
    let from = origins && addIdentity([], normalized);
    for (const step of opened) [normalized, from] = step(normalized, from);
    if (from) for (const position of from) origins?.push(position);
    return normalized;
  };
}

function openStep(step: NormalizerStep, charsmapAt: (index: number) => Charsmap): Step {
  switch (step.type) {
    case "map": {
      const charsmap = charsmapAt(step.table);
      return following(followChanges, (text, onReplaced) => applyCharsmap(charsmap, text, onReplaced));
    }
    case "each": {
      const charsmap = charsmapAt(step.table);
      return following(followReplacements, (text, onReplaced) => applyCharsmap(charsmap, text, onReplaced));
    }
    case "form": {
      const { points } = charsmapAt(step.table);
      return (text, origins) =>
        origins ? placedForm(points, text, step.form, origins) : [compose(points, text, step.form)];
    }
    case "strip":
      return following(followReplacements, (text, onReplaced) => strip(text, step, onReplaced));
    case "collapse":
      return following(followReplacements, replaceAll(BLANKS, step.content));
    case "spaces":
      return following(followReplacements, replaceAll(SPACES, step.content));
    case "replace":
      return following(followReplacements, replaceAll(literally(step.from), step.content));
    case "prepend":
      return following(followReplacements, prepend(step.content));
  }
}

const following =
  (follow: FollowOrigins, apply: (text: string, onReplaced?: OnReplaced) => string): Step =>
  (text, origins) => {
    const followed = origins && follow(text, origins);
    return [apply(text, followed?.onReplaced), followed?.end()];
  };
