import type { Artifact } from "../artifact/artifact.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { Engine } from "./engine/engine.ts";
import type { Model } from "./model.ts";
import { releaseModel, startModel } from "./start-model.ts";

/** A loaded model. `await using` releases it at the end of its block. */
export type DisposableModel = Model & AsyncDisposable;

/**
 * Loads the current version of a published model, in any runtime: browsers, Workers, Node.
 *
 * @throws BertEdgeError `model_not_published`, and the errors of `loadArtifact`
 */
export const loadPublished = async (store: ObjectStore, name: string, engine: Engine): Promise<DisposableModel> =>
  loadArtifact(await openPublished(store, await readPointer(store, name)), engine);

/**
 * Loads an artifact. Resolves when the whole model is loaded.
 *
 * @throws BertEdgeError `target_missing`, `engine_mismatch`, `engine_failed`, `artifact_corrupt`, `model_invalid`, `tokenizer_invalid`,
 *   `storage_unavailable`
 */
export async function loadArtifact(artifact: Artifact, engine: Engine): Promise<DisposableModel> {
  const model = await startModel(artifact, engine);
  try {
    await model.complete;
  } catch (error) {
    await releaseModel(model);
    throw error;
  }
  return { ...model, [Symbol.asyncDispose]: () => model.release() };
}
