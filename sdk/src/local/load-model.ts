import type { Artifact } from "../artifact/artifact.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { type DisposableModel, loadArtifact, loadPublished } from "../runtime/load-published.ts";
import { openFolder } from "../storage/folder-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import { edgeEngine } from "./edge-engine.ts";

export interface LoadModelOptions {
  /**
   * Engine that runs the model. Default: the WebAssembly engine, which loads the artifact's target `edge`.
   * `ortNodeEngine()` of `bert-edge/engine/ort-node` loads `regional-cpu` or `regional-gpu`.
   */
  engine?: Engine;
  /** Store to read a published model from. `loadModel` loads the current version of the model that `source` names. */
  store?: ObjectStore;
}

/**
 * Loads a model into this process. For Node, Deno and Bun: it reads files and compiles WebAssembly. In a Worker,
 * use `embed` of the app that `createEdgeApp` or `embeddings` of `bert-edge/serve` makes.
 *
 * @param source path of an artifact folder, or an opened artifact; with `store`, the name of a published model
 * @throws BertEdgeError `artifact_missing`, `model_not_published`, `target_missing`,
 *   `engine_mismatch`, `engine_failed`, `artifact_corrupt`, `model_invalid`, `tokenizer_invalid`, `storage_unavailable`
 */
export async function loadModel(
  source: string | Artifact,
  { engine, store }: LoadModelOptions = {},
): Promise<DisposableModel> {
  const chosen = engine ?? (await edgeEngine());
  if (typeof source !== "string") return loadArtifact(source, chosen);
  return store ? loadPublished(store, source, chosen) : loadArtifact(await openFolder(source), chosen);
}
