import type { Task } from "../../artifact/manifest.ts";
import { takesPairs } from "./run-task.ts";
import type { TextOrPair } from "./tokenize-texts.ts";

/**
 * Makes inputs of a task: the texts, or pairs of a text and the next one.
 *
 * @param step distance between the first texts of two pairs. With 2, each text is in one pair.
 */
export function inputsOf(task: Task, texts: readonly string[], step: 1 | 2 = 1): readonly TextOrPair[] {
  if (!takesPairs(task)) return texts;
  const next = (i: number) => texts[(i + 1) % texts.length] as string;
  return texts.flatMap((text, i): TextOrPair[] => (i % step === 0 ? [[text, next(i)]] : []));
}
