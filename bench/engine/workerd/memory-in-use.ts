import { join } from "node:path";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import type { Context, ModelName } from "../context.ts";
import { type Measured, megabytes } from "../measured.ts";
import type { Form } from "../subject.ts";
import { bucketIn } from "./bucket.ts";
import { type IsolateMemory, isolateMemory } from "./isolate-memory.ts";
import { computed, publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf, type WorkerOptions } from "./running-worker.ts";
import { workerModules } from "./worker-modules.ts";

const SHORT = "Where is the mill?";
/** A text that exceeds the maximum length of every model. The Worker truncates it. */
const LONG = SHORT.repeat(200);

export interface Load {
  readonly model: ModelName;
  readonly form: Form;
  /**
   * Memory limit in MB. With a limit, the result is the memory that is left. Without a limit, the result is the used
   * memory.
   */
  readonly limit?: number;
}

/** Measures the memory of an isolate with a form of a model. */
export const memoryInUse =
  ({ model, form, limit }: Load) =>
  async (context: Context): Promise<Measured> => {
    const subject = await context.subject(model);
    const store = bucketIn(join(context.folder, `memory-${model}`));
    const { meanCosine } = await publishForm(
      { subject, form, name: model, engine: "wasm", precision: "int8-edge" },
      store,
    );
    const { used, vectors, ...parts } = await memoryOf({ model, source: store.source });
    const file = (await subject.file(form)).length;
    return {
      figure: limit === undefined ? used / 1e6 : limit - used / 1e6,
      agreement: parity(await computed(subject, "fp32", "ort-node", [LONG]), vectors).minCosine,
      ours: megabytes(used),
      details: { ...parts, file, meanCosine },
    };
  };

/** The bytes of an isolate after its texts, and the vector of the longest one. */
export interface UsedMemory extends Omit<IsolateMemory, "largestBuffer"> {
  readonly used: number;
  readonly webAssembly: number;
  readonly vectors: readonly Float32Array[];
}

/** Measures the memory of an isolate that has encoded a short text, a text of maximum length, and a batch. */
export async function memoryOf({ model, source }: Pick<WorkerOptions, "model" | "source">): Promise<UsedMemory> {
  const worker = await startWorker({ modules: await workerModules("wasm"), model, source });
  try {
    await vectorsOf(await worker.ask([SHORT]));
    const vectors = await vectorsOf(await worker.ask([LONG]));
    await vectorsOf(await worker.ask([SHORT, LONG, SHORT, LONG]));
    const { heap, embedder, buffers, largestBuffer } = await isolateMemory(worker);
    return { used: heap + embedder + buffers, heap, embedder, buffers, webAssembly: largestBuffer, vectors };
  } finally {
    await worker.stop();
  }
}
