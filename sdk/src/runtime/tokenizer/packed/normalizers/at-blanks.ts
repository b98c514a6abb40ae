import type { NormalizerStep } from "../packed-settings.ts";

/** Whether a step can replace a blank between two words, or what is beside it. */
export const isAtBlanks = (step: NormalizerStep): boolean => step.type === "replace" && /[a-z\d ]/i.test(step.from);
