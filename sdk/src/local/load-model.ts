import type { Artifact } from "../artifact/artifact.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { type Model, releaseModel, startModel } from "../runtime/model.ts";
import { openFolder } from "../storage/folder-artifact.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import { engineOnThisMachine } from "./engines.ts";

export interface LoadModelOptions {
  /**
   * Engine that runs the model. Default: the WebAssembly engine, which loads the artifact's target `edge`.
   * `ortNodeEngine()` of `bert-edge/engine/ort-node` loads `regional-cpu` or `regional-gpu`.
   */
  engine?: Engine;
  /** Store to read a published model from. `loadModel` loads the current version of the model that `source` names. */
  store?: ObjectStore;
}

/** A loaded model. `await using` releases it at the end of its block. */
export type LocalModel = Model & AsyncDisposable;

/**
 * Loads a model into this process. For Node, Deno and Bun: it reads files and compiles WebAssembly. In a Worker,
 * use `embed` of the app that `createEdgeApp` or `embeddings` of `bert-edge/serve` makes.
 *
 * @param source path of an artifact folder, or an opened artifact; with `store`, the name of a published model
 * @throws BertEdgeError `artifact_missing`, `model_not_published`, `target_missing`,
 *   `engine_mismatch`, `engine_failed`, `artifact_corrupt`, `storage_unavailable`
 */
export async function loadModel(source: string | Artifact, options: LoadModelOptions = {}): Promise<LocalModel> {
  const { engine = await engineOnThisMachine("wasm"), store } = options;
  const model = await startModel(await open(source, store), engine);
  try {
    await model.complete;
  } catch (error) {
    await releaseModel(model);
    throw error;
  }
  return { ...model, [Symbol.asyncDispose]: () => model.release() };
}

async function open(source: string | Artifact, store: ObjectStore | undefined): Promise<Artifact> {
  if (typeof source !== "string") return source;
  return store ? openPublished(store, await readPointer(store, source)) : openFolder(source);
}
