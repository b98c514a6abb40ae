import * as ort from "onnxruntime-web/wasm";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type EngineSession, oneModel } from "#sdk/runtime/engine/engine.ts";
import { runPadded } from "#sdk/runtime/engine/ort-run.ts";
import { withHead } from "#sdk/runtime/engine/with-head.ts";

/** A model in onnxruntime-web that computes all texts in one call, as long as the longest of them. */
export async function openPadded(file: Uint8Array<ArrayBuffer>): Promise<Pick<EngineSession, "run" | "release">> {
  // It starts once a process, which the engine knows how to do without a file to fetch.
  await (await (await engineOnThisMachine("ort-web")).load(oneModel(file))).release();
  const session = await ort.InferenceSession.create(file, { executionProviders: ["wasm"] });
  return {
    run: withHead((sequences) => runPadded({ session, Tensor: ort.Tensor }, sequences)),
    release: () => session.release(),
  };
}
