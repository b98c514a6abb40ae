import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type GoldenTexts, parseGolden } from "../artifact/golden.ts";
import { type EmbedManifest, sentenceEncoder, type TargetName } from "../artifact/manifest.ts";
import type { Measurements } from "../artifact/measurements.ts";
import { totalLength } from "../artifact/total-length.ts";
import { assertFits } from "./assert-fits.ts";
import type { Batching, Engine, TokenIds } from "./engine/engine.ts";
import { modelFilesOf } from "./model-files.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** A loaded model that embeds texts. */
export interface Model {
  readonly manifest: EmbedManifest;
  readonly version: string;
  /** Measured latency and memory of the targets. Replaced when the same version is measured and published again. */
  measurements: Measurements;
  readonly tokenizer: Tokenizer;
  /** The target that the engine loaded: `edge`, `regional-cpu`, … */
  readonly target: TargetName;
  /** The execution provider that runs the model: `wasm`, `cpu`, `cuda`, … */
  readonly provider: string;
  /** Execution providers that were tried first and could not load the model. */
  readonly passedOver: readonly { readonly provider: string; readonly why: string }[];
  /** Number of calls of `embedTokens` that are computed side by side. */
  readonly parallel: number;
  /** Splits sequences into the smallest parts that the engine computes without losing much time. */
  readonly batches: Batching;
  /** Resolves when `embedTokens` can run these sequences, which may be before the whole model is loaded. */
  ready(sequences: readonly TokenIds[]): Promise<void>;
  /**
   * Resolves when the whole model is loaded. `embed` can be called earlier: it waits for the bytes that its texts need. If
   * the promise rejects, release the model.
   */
  readonly complete: Promise<void>;
  /**
   * Embeds texts.
   *
   * @returns one vector [dimensions] per text
   * @throws BertEdgeError `input_too_long` unless `truncate` is set, and the errors of `embedTokens`
   */
  embed(texts: readonly string[], options?: TokenizeOptions): Promise<Float32Array<ArrayBuffer>[]>;
  /**
   * Encodes texts to token ids, with special tokens. This is the first half of `embed`.
   *
   * @throws BertEdgeError `input_too_long` unless `truncate` is set
   */
  tokenize(texts: readonly string[], options?: TokenizeOptions): TokenIds[];
  /**
   * Runs the model on tokenized texts. This is the second half of `embed`.
   *
   * @param now clock in milliseconds, for `computeMs`
   * @throws BertEdgeError `vector_invalid` for NaN or infinite values, and the errors of `EngineSession.run`
   */
  embedTokens(sequences: readonly TokenIds[], now?: () => number): Promise<EmbeddedTokens>;
  /**
   * Reads the artifact's golden texts, with their vectors from the float32 model.
   *
   * @returns undefined if an earlier version of bert-edge has prepared the artifact
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
   */
  golden(): Promise<GoldenTexts | undefined>;
  /** Returns the bytes of WebAssembly memory in use; undefined for engines that do not use WebAssembly. */
  memoryBytes(): number | undefined;
  /** Frees the model's memory. Later calls of `embed` fail. */
  release(): Promise<void>;
}

export interface TokenizeOptions {
  /** Whether to cut texts that are too long instead of refusing them. Default false. */
  truncate?: boolean;
  /** Index of the first text in the request, for error messages. Default 0. */
  firstIndex?: number;
}

export interface EmbeddedTokens {
  /** One vector [dimensions] per sequence. */
  readonly vectors: Float32Array<ArrayBuffer>[];
  /** Tokens of all sequences together. */
  readonly tokens: number;
  /** Milliseconds of computation, without the wait for the model's bytes. */
  readonly computeMs: number;
}

/**
 * Reads an artifact's tokenizer and starts `engine` with its model file. The engine may still be reading the rest of the
 * file when the returned promise resolves; see `Model.complete`.
 *
 * @throws BertEdgeError `task_unsupported`, `target_missing`, `engine_mismatch`, `engine_failed`, `tokenizer_invalid`,
 *   `artifact_corrupt`, `model_invalid`, and the errors of reading files
 */
export async function startModel(artifact: Artifact, engine: Engine): Promise<Model> {
  const { version, measurements } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  const { name, maxTokens } = manifest;
  const loading = engine.load(modelFilesOf(artifact, engine.name));
  const both = Promise.all([loadTokenizer(manifest, artifact.read), loading]);
  const [tokenizer, session] = await both.catch(async (error: unknown) => {
    await loading.then(
      (loaded) => loaded.release(),
      () => {},
    );
    throw error;
  });

  try {
    if (session.shape) assertFits(manifest, session.shape);
  } catch (error) {
    await session.release();
    throw error;
  }

  function tokenize(texts: readonly string[], { truncate = false, firstIndex = 0 }: TokenizeOptions = {}): TokenIds[] {
    return texts.map((text, i) => {
      const index = firstIndex + i;
      const { ids, tokens } = tokenizer.encode(text, maxTokens);
      if (tokens <= maxTokens || truncate) return ids;
      throw new BertEdgeError(
        "input_too_long",
        `Input ${index} has at least ${tokens} tokens, but ${name} accepts at most ${maxTokens}.`,
        { hint: "Shorten the text, or set `truncate` to true to embed only its beginning.", index },
      );
    });
  }

  const ready = async (sequences: readonly TokenIds[]) => session.ready?.(sequences);

  async function embedTokens(sequences: readonly TokenIds[], now = () => performance.now()): Promise<EmbeddedTokens> {
    await ready(sequences);
    const start = now();
    const vectors = await session.run(sequences, manifest);
    const computeMs = now() - start;
    if (!vectors.every((vector) => vector.every(Number.isFinite))) {
      throw new BertEdgeError(
        "vector_invalid",
        `${name}@${version} computed NaN or infinite values on ${session.provider}.`,
        { hint: "Run `bert-edge verify` on the artifact to see which target is wrong." },
      );
    }
    return { vectors, tokens: totalLength(sequences), computeMs };
  }

  async function golden(): Promise<GoldenTexts | undefined> {
    if (manifest.golden === undefined) return undefined;
    return parseGolden(await artifact.read(manifest.golden), manifest.dimensions, `${name}@${version}`);
  }

  return {
    manifest,
    version,
    measurements,
    tokenizer,
    target: session.target,
    provider: session.provider,
    passedOver: session.passedOver ?? [],
    parallel: session.parallel ?? 1,
    batches: session.batches,
    ready,
    complete: session.complete ?? Promise.resolve(),
    embed: async (texts, options) => (await embedTokens(tokenize(texts, options))).vectors,
    tokenize,
    embedTokens,
    golden,
    memoryBytes: () => session.memoryBytes(),
    release: () => session.release(),
  };
}

/** Releases a model. Logs an error instead of throwing it, because a memory leak must not make a request or load fail. */
export async function releaseModel(model: Model): Promise<void> {
  try {
    await model.release();
  } catch (error) {
    console.error(`bert-edge: releasing ${model.manifest.name}@${model.version} failed:`, error);
  }
}
