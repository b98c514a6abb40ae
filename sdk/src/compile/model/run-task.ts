import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession, TokenSequence } from "../../runtime/engine/engine.ts";
import { taskOutput, vectorHead } from "../../runtime/tasks/task-output.ts";

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

/** Whether a task reads pairs of texts: what a cross-encoder compares, or a question with a context. */
export const takesPairs = (task: Task): boolean =>
  task.task === "answer" || (task.task === "classify" && task.input === "pair");
