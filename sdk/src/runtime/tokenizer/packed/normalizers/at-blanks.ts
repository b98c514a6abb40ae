import type { NormalizerStep } from "../packed-settings.ts";

/** Whether a normalizer step can replace a blank between two words, or a letter or digit next to the blank. */
export const isAtBlanks = (step: NormalizerStep): boolean => step.type === "replace" && /[a-z\d ]/i.test(step.from);
