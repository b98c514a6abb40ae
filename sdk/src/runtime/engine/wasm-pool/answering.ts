import { BertEdgeError } from "../../../artifact/error.ts";
import { type EngineSession, oneModel } from "../engine.ts";
import { wasmEngine } from "../wasm/index.ts";
import type { ErrorParts, ThreadAnswer, ThreadTask } from "./thread-task.ts";

/**
 * Returns the function that performs a thread's tasks.
 *
 * @param post sends an answer out of the thread, and transfers `buffers` instead of copying them
 */
export function answering(
  post: (answer: ThreadAnswer, buffers: ArrayBuffer[]) => void,
): (task: ThreadTask) => Promise<void> {
  let session: EngineSession | undefined;

  async function perform(task: ThreadTask): Promise<Float32Array<ArrayBuffer>[]> {
    if ("model" in task) session = await load(task);
    return "sequences" in task && session ? session.run(task.sequences, task.head) : [];
  }

  return async (task) => {
    try {
      const results = await perform(task);
      post(
        { results, memoryBytes: session?.memoryBytes() },
        results.map(({ buffer }) => buffer),
      );
    } catch (error) {
      post({ error: partsOf(error) }, []);
    }
  };
}

async function load({ kernels, model, pages }: Extract<ThreadTask, { model: Uint8Array }>): Promise<EngineSession> {
  const session = await wasmEngine(kernels).load(oneModel(model, pages));
  // A model with pages is checked when all of it is there.
  await session.complete;
  return session;
}

function partsOf(error: unknown): ErrorParts {
  if (error instanceof BertEdgeError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: "engine_failed", message: `The WebAssembly engine failed: ${error}.`, hint: undefined };
}
