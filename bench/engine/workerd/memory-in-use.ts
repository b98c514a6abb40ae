import { join } from "node:path";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import type { Context, ModelName } from "../context.ts";
import { type Measured, megabytes } from "../measured.ts";
import type { Form } from "../subject.ts";
import { bucketIn } from "./bucket.ts";
import { isolateMemory } from "./isolate-memory.ts";
import { computed, publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf } from "./running-worker.ts";
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

/** Measures the memory of an isolate that has encoded a short text, a text of maximum length, and a batch. */
export const memoryInUse =
  ({ model, form, limit }: Load) =>
  async (context: Context): Promise<Measured> => {
    const subject = await context.subject(model);
    const store = bucketIn(join(context.folder, `memory-${model}`));
    const { meanCosine } = await publishForm(
      { subject, form, name: model, engine: "wasm", precision: "int8-edge" },
      store,
    );
    const worker = await startWorker({ modules: await workerModules("wasm"), model, source: store.source });
    try {
      await vectorsOf(await worker.ask([SHORT]));
      const found = await vectorsOf(await worker.ask([LONG]));
      await vectorsOf(await worker.ask([SHORT, LONG, SHORT, LONG]));
      const { heap, embedder, buffers, largestBuffer } = await isolateMemory(worker);
      const used = heap + embedder + buffers;
      const file = (await subject.file(form)).length;
      return {
        figure: limit === undefined ? used / 1e6 : limit - used / 1e6,
        agreement: parity(await computed(subject, "fp32", "ort-node", [LONG]), found).minCosine,
        ours: megabytes(used),
        details: { heap, embedder, buffers, webAssembly: largestBuffer, file, meanCosine },
      };
    } finally {
      await worker.stop();
    }
  };
