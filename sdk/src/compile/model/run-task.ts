import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession, TokenSequence } from "../../runtime/engine/engine.ts";
import { taskOutput, vectorHead } from "../../runtime/tasks/task-output.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import type { TextOrPair } from "./tokenize-texts.ts";

/**
 * Runs a model on encoded texts and pairs. Returns the result of each: a vector, the logits of a text, or the rows of all its
 * tokens, one after the other.
 */
export async function runTask(
  session: Pick<EngineSession, "run">,
  task: Task,
  sequences: readonly TokenSequence[],
): Promise<Float32Array[]> {
  const outputs = await session.run(sequences, vectorHead(task));
  return outputs.map((output) => taskOutput(task, output));
}

/** Whether a task reads pairs of texts: two texts for a cross-encoder, or a question with a context. */
export const takesPairs = (task: Task): boolean =>
  task.task === "answer" || (task.task === "classify" && task.input === "pair");

/**
 * Makes inputs of a task: the texts, or pairs of a text and the next one.
 *
 * @param step distance between the first texts of successive pairs. With 2, each text is in one pair.
 */
export function inputsOf(task: Task, texts: readonly string[], step: 1 | 2 = 1): readonly TextOrPair[] {
  if (!takesPairs(task)) return texts;
  const next = (i: number) => texts[(i + 1) % texts.length] as string;
  return texts.flatMap((text, i): TextOrPair[] => (i % step === 0 ? [[text, next(i)]] : []));
}

export interface PartsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called before and after each part with the finished share of the sequences, if there are several parts. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

/** Maximum number of sequences in a part: few enough that a large model takes only seconds between two reports of progress. */
const SEQUENCES_AT_ONCE = 16;

/**
 * Returns a session that runs its sequences in parts, and reports progress and stops between them.
 *
 * @throws BertEdgeError (when the session runs) `aborted`, and the errors of `session`
 */
export const runInParts = (
  session: Pick<EngineSession, "run">,
  { signal, progress }: PartsOptions,
): Pick<EngineSession, "run"> => ({
  async run(sequences, head) {
    throwIfAborted(signal);
    if (sequences.length <= SEQUENCES_AT_ONCE) return session.run(sequences, head);
    const results: Float32Array<ArrayBuffer>[] = [];
    while (results.length < sequences.length) {
      throwIfAborted(signal);
      progress?.(results.length / sequences.length);
      const part = sequences.slice(results.length, results.length + SEQUENCES_AT_ONCE);
      results.push(...(await session.run(part, head)));
    }
    progress?.(1);
    return results;
  },
});
