import { BertEdgeError } from "../../../artifact/error.ts";
import type { EngineSession } from "../engine.ts";
import { wasmEngine } from "../wasm/index.ts";
import type { Answer, ErrorParts, Task } from "./thread.ts";

/**
 * What a thread does with the tasks that it is given.
 *
 * @param post sends an answer, with the buffers that it gives away
 */
export function answering(post: (answer: Answer, buffers: ArrayBuffer[]) => void): (task: Task) => Promise<void> {
  let session: EngineSession | undefined;

  async function perform(task: Task): Promise<Float32Array<ArrayBuffer>[]> {
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

const load = ({ kernels, model }: Extract<Task, { model: Uint8Array }>): Promise<EngineSession> =>
  wasmEngine(kernels).load({
    size: () => model.length,
    read: async () => Uint8Array.from(model),
    readInto: async (_, destination) => destination.bytes().set(model),
  });

function partsOf(error: unknown): ErrorParts {
  if (error instanceof BertEdgeError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: "engine_failed", message: `The WebAssembly engine failed: ${error}.`, hint: undefined };
}
