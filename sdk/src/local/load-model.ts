import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import { assertOptions } from "../artifact/similar-names.ts";
import type { Engine } from "../runtime/engine/engine.ts";
import { loadArtifact, loadPublished } from "../runtime/load-published.ts";
import type { LocalModel } from "../runtime/local-model.ts";
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
 * use the methods of the app that `createEdgeApp` or `embeddings` of `bert-edge/serve` makes.
 *
 * @param source path of an artifact folder, or an opened artifact; with `store`, the name of a published model
 * @throws BertEdgeError `setting_invalid`, `artifact_missing`, `model_not_published`, `target_missing`,
 *   `engine_mismatch`, `engine_failed`, `artifact_corrupt`, `model_invalid`, `tokenizer_invalid`, `storage_unavailable`
 */
export async function loadModel(source: string | Artifact, options: LoadModelOptions = {}): Promise<LocalModel> {
  checkCall(source, options);
  const { engine, store } = options;
  const chosen = engine ?? (await edgeEngine());
  if (typeof source !== "string") return loadArtifact(source, chosen);
  return store ? loadPublished(store, source, chosen) : loadArtifact(await openFolder(source), chosen);
}

/** Checks the arguments, because plain JavaScript can pass any value. */
function checkCall(source: unknown, options: unknown): void {
  const invalid = (what: string, hint: string) => new BertEdgeError("setting_invalid", `${what}.`, { hint });
  const isArtifact = typeof Object(source).read === "function" && typeof Object(source).manifest === "object";
  if (source === "" || !(typeof source === "string" || isArtifact) || /^file:/.test(source as string)) {
    throw invalid(
      `The first argument of loadModel is ${shown(source)}`,
      'Give the path of an artifact folder, such as "./artifact" or fileURLToPath(url), or an opened artifact; with the option store, the name of a model.',
    );
  }
  if (typeof options !== "object" || options === null) {
    throw invalid(
      `The options of loadModel are ${shown(options)}`,
      "Leave it out, or give an object with engine or store.",
    );
  }
  assertOptions("loadModel", options, ["engine", "store"]);
  const { engine, store } = options as Record<string, unknown>;
  if (engine !== undefined && typeof Object(engine).load !== "function") {
    throw invalid(
      "The option engine of loadModel is not an engine",
      "Give an engine, such as the result of ortNodeEngine() of bert-edge/engine/ort-node.",
    );
  }
  if (store !== undefined && typeof Object(store).open !== "function") {
    throw invalid(
      "The option store of loadModel is not a store",
      "Give a store, such as the result of fsStore(folder) of bert-edge/storage/fs.",
    );
  }
}
