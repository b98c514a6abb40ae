import { join } from "node:path";
import type { Context, ModelName } from "../context.ts";
import { type Measured, megabytes } from "../measured.ts";
import type { Form } from "../subject.ts";
import { isolateMemory } from "./isolate-memory.ts";
import { publishForm } from "./publish-form.ts";
import { startWorker, vectorsOf } from "./running-worker.ts";
import { workerModules } from "./worker-modules.ts";

const SHORT = "Where is the mill?";
/** More tokens than any model takes; the text is truncated to the model's maximum. */
const LONG = SHORT.repeat(200);

export interface Load {
  readonly model: ModelName;
  readonly form: Form;
  /** Memory limit in MB. With it the figure is the memory that is left; without it, the memory in use. */
  readonly limit?: number;
}

/** Bytes of an isolate that has computed a short text, the longest one, and several at once. */
export const memoryInUse =
  ({ model, form, limit }: Load) =>
  async (context: Context): Promise<Measured> => {
    const subject = await context.subject(model);
    const folder = join(context.folder, `memory-${model}`);
    const { meanCosine } = await publishForm(
      { subject, form, name: model, engine: "wasm", precision: "int8-edge" },
      folder,
    );
    const worker = await startWorker({ modules: await workerModules("wasm"), model, folder });
    try {
      for (const texts of [[SHORT], [LONG], [SHORT, LONG, SHORT, LONG]]) await vectorsOf(await worker.ask(texts));
      const { heap, embedder, buffers, largestBuffer } = await isolateMemory(worker);
      const used = heap + embedder + buffers;
      const file = (await subject.file(form)).length;
      return {
        figure: limit === undefined ? used / 1e6 : limit - used / 1e6,
        ours: megabytes(used),
        details: { heap, embedder, buffers, webAssembly: largestBuffer, file, meanCosine },
      };
    } finally {
      await worker.stop();
    }
  };
