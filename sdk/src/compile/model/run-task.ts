import type { Task } from "../../artifact/manifest.ts";
import type { EngineSession, TokenIds, VectorHead } from "../../runtime/engine/engine.ts";
import { sparseVector } from "../../runtime/tasks/sparse-vector.ts";

/**
 * Runs a model on encoded texts. Returns the result of each text: a vector, the logits of a text, or the rows of all its
 * tokens, one after the other.
 */
export async function runTask(
  session: Pick<EngineSession, "run">,
  task: Task,
  sequences: readonly TokenIds[],
): Promise<Float32Array[]> {
  const outputs = await session.run(sequences, vectorHead(task));
  return task.task === "sparse" ? outputs.map(sparseVector) : outputs;
}

/** Returns how a model's output becomes a vector; undefined for tasks that use the output itself. */
function vectorHead(task: Task): VectorHead | undefined {
  if (task.task === "embed") return task;
  return task.task === "sparse" ? { pooling: "max", normalize: false } : undefined;
}
