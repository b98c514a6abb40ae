import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { shown } from "../artifact/shown.ts";
import { assertOptions } from "../artifact/similar-names.ts";
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
  return {
    ...model,
    async embed(texts, options = {}) {
      checkEmbed(texts, options);
      return model.embed(texts, options);
    },
    [Symbol.asyncDispose]: () => model.release(),
  };
}

const embedOptions = ["truncate", "prompt", "search", "dimensions", "poolChunks", "maxTokens", "normalize"] as const;

/** Checks a call of plain JavaScript. @throws BertEdgeError `request_invalid` */
function checkEmbed(texts: unknown, options: object): void {
  const invalid = (what: string, hint: string) => new BertEdgeError("request_invalid", what, { hint });
  const index = Array.isArray(texts) ? texts.findIndex((text) => typeof text !== "string" && !isIds(text)) : undefined;
  if (index !== -1) {
    const at = index === undefined ? "The texts of embed are" : `Text ${index} of embed is`;
    const value = index === undefined ? texts : (texts as unknown[])[index];
    throw invalid(`${at} ${shown(value)}.`, 'Give a list of strings: embed(["to be"]).');
  }
  assertOptions("embed", options, embedOptions, "request_invalid");
  const { truncate } = options as { truncate?: unknown };
  if ([undefined, true, false, "left", "right"].includes(truncate as never)) return;
  throw invalid(
    `The option truncate of embed is ${shown(truncate)}.`,
    'Give true, false, "left" or "right", or leave it out.',
  );
}

const isIds = (text: unknown): boolean => Array.isArray(text) && text.every((id) => typeof id === "number");
