import * as ort from "onnxruntime-web/wasm";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { ortRun } from "#sdk/runtime/engine/ort-run.ts";

/** Opens a model in onnxruntime-web. Its `run` pads all texts to the longest text, and computes them in one call. */
export async function openPadded(file: Uint8Array<ArrayBuffer>): Promise<Pick<EngineSession, "run" | "release">> {
  // Load and release the model once: this initializes onnxruntime's WebAssembly from local files.
  await (await (await engineOnThisMachine("ort-web")).load(oneModel(file))).release();
  const session = await ort.InferenceSession.create(file, { executionProviders: ["wasm"] });
  return {
    run: ortRun({ session, Tensor: ort.Tensor }),
    release: () => session.release(),
  };
}
