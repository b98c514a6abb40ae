import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type EmbedManifest, sentenceEncoder } from "../artifact/manifest.ts";
import type { Engine, EngineSession, TokenIds } from "./engine/engine.ts";
import { sentenceVector } from "./tasks/sentence-vector.ts";
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
   * @throws BertEdgeError `vector_invalid` rather than return NaN or infinite numbers
   */
  embed(sequences: readonly TokenIds[]): Promise<Float32Array<ArrayBuffer>[]>;
}

/**
 * Reads tokenizer and weights of an artifact and starts `engine` on them.
 *
 * @throws BertEdgeError `task_unsupported`, `target_missing`, `engine_failed`, `tokenizer_invalid`, `artifact_corrupt`, or
 *   what reading throws
 */
export async function loadModel(artifact: Artifact, engine: Engine): Promise<Model> {
  const { version } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  const [tokenizer, session] = await Promise.all([
    loadTokenizer(manifest, artifact.read),
    engine.load(async (name) => {
      const target = manifest.targets[name];
      if (target) return artifact.read(target.model);
      throw new BertEdgeError("target_missing", `The model ${manifest.name} was prepared without the target ${name}.`, {
        hint: `Prepare it again with --targets including ${name}.`,
      });
    }),
  ]);
  return {
    manifest,
    version,
    tokenizer,
    session,
    async embed(sequences) {
      const states = await session.run(sequences);
      return states.map((rows) => {
        const vector = sentenceVector(rows, manifest.dimensions, manifest);
        if (vector.every(Number.isFinite)) return vector;
        throw new BertEdgeError(
          "vector_invalid",
          `${manifest.name}@${version} on ${session.provider} gave a vector with NaN.`,
        );
      });
    },
  };
}
