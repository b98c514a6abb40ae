import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type EmbedManifest, type ManifestFile, sentenceEncoder, type TargetName } from "../artifact/manifest.ts";
import type { Engine, EngineSession, ModelSource, TokenIds } from "./engine/engine.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** A model that is loaded and answers. */
export interface Model {
  readonly manifest: EmbedManifest;
  readonly version: string;
  readonly tokenizer: Tokenizer;
  readonly session: EngineSession;
  /**
   * @returns one vector [dimensions] a sequence
   * @throws BertEdgeError `vector_invalid` rather than return NaN or infinite numbers, and as `EngineSession.run`
   */
  embed(sequences: readonly TokenIds[]): Promise<Float32Array<ArrayBuffer>[]>;
}

/**
 * Reads tokenizer and weights of an artifact and starts `engine` on them, which may go on with reading: see
 * `EngineSession.complete`.
 *
 * @throws BertEdgeError `task_unsupported`, `target_missing`, `engine_mismatch`, `engine_failed`, `tokenizer_invalid`,
 *   `artifact_corrupt`, or what reading throws
 */
export async function loadModel(artifact: Artifact, engine: Engine): Promise<Model> {
  const { version } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  const loading = engine.load(sourceOf(artifact, engine.name));
  const both = Promise.all([loadTokenizer(manifest, artifact.read), loading]);
  const [tokenizer, session] = await both.catch(async (error: unknown) => {
    await loading.then(
      (loaded) => loaded.release(),
      () => {},
    );
    throw error;
  });
  return {
    manifest,
    version,
    tokenizer,
    session,
    async embed(sequences) {
      const vectors = await session.run(sequences, manifest);
      if (vectors.every((vector) => vector.every(Number.isFinite))) return vectors;
      throw new BertEdgeError(
        "vector_invalid",
        `${manifest.name}@${version} on ${session.provider} gave a vector with NaN.`,
      );
    },
  };
}

/** Failing to release costs memory, but neither an answer nor the model that comes after: it is logged. */
export async function releaseModel({ manifest, version, session }: Model): Promise<void> {
  try {
    await session.release();
  } catch (error) {
    console.error(`bert-edge: releasing ${manifest.name}@${version} failed:`, error);
  }
}

/** An artifact's model files, those for other engines refused. */
export function sourceOf(artifact: Artifact, engine: Engine["name"]): ModelSource {
  const { name: model, targets, files } = artifact.manifest;
  const fileOf = (name: TargetName): string => {
    const target = targets[name];
    if (!target) {
      throw new BertEdgeError("target_missing", `The model ${model} was prepared without the target ${name}.`, {
        hint: `Prepare it again with --targets including ${name}.`,
      });
    }
    if (target.engine === engine) return target.model;
    throw new BertEdgeError(
      "engine_mismatch",
      `The target ${name} of ${model} is for the engine ${target.engine}, and this is ${engine}.`,
      { hint: `Use the engine from bert-edge/engine/${target.engine} for it, in functions/.` },
    );
  };
  return {
    size: (name) => (files[fileOf(name)] as ManifestFile).size,
    read: async (name) => artifact.read(fileOf(name)),
    readInto: async (name, destination) => artifact.readInto(fileOf(name), destination),
  };
}
