import type { Artifact } from "../artifact/artifact.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";
import type { Engine } from "./engine/engine.ts";
import { type LocalModel, withMethods } from "./local-model.ts";
import { wholeModel } from "./start-model.ts";

/**
 * Loads the current version of a published model, in any runtime: browsers, Workers, Node.
 *
 * @throws BertEdgeError `model_not_published`, and the errors of `loadArtifact`
 */
export const loadPublished = async (store: ObjectStore, name: string, engine: Engine): Promise<LocalModel> =>
  loadArtifact(await openPublished(store, await readPointer(store, name)), engine);

/**
 * Loads an artifact. Resolves when the whole model is loaded.
 *
 * @throws BertEdgeError `target_missing`, `engine_mismatch`, `engine_failed`, `artifact_corrupt`, `model_invalid`, `tokenizer_invalid`,
 *   `storage_unavailable`
 */
export const loadArtifact = async (artifact: Artifact, engine: Engine): Promise<LocalModel> =>
  withMethods(await wholeModel(artifact, engine));
