import type { Artifact } from "../artifact/artifact.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { type GoldenTexts, parseGolden } from "../artifact/golden.ts";
import type { Manifest, TargetName } from "../artifact/manifest.ts";
import type { Measurements } from "../artifact/measurements.ts";
import { totalLength } from "../artifact/total-length.ts";
import { assertFits } from "./assert-fits.ts";
import type { Batching, Engine, EngineSession, TokenIds, TokenSequence } from "./engine/engine.ts";
import { idsOf } from "./engine/token-sequence.ts";
import { inputEncoder } from "./input-encoder.ts";
import { modelFilesOf } from "./model-files.ts";
import { type EmbedParameters, embedCall } from "./tasks/embed-call.ts";
import type { ModelCall, TaskCall } from "./tasks/task-call.ts";
import { neededOutput, taskOutput, vectorHead } from "./tasks/task-output.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** A loaded model. */
export interface Model {
  readonly manifest: Manifest;
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
  /** Number of calls of `run` that are computed side by side. */
  readonly parallel: number;
  /** Splits sequences into the smallest parts that the engine computes without losing much time. */
  readonly batches: Batching;
  /** Resolves when `run` can run these sequences, which may be before the whole model is loaded. */
  ready(sequences: readonly TokenSequence[]): Promise<void>;
  /**
   * Resolves when the whole model is loaded. `call` can be used earlier: it waits for the bytes that its texts need. If the
   * promise rejects, release the model.
   */
  readonly complete: Promise<void>;
  /**
   * Answers a call: `encode`, `run`, and the call's own decoding.
   *
   * @throws BertEdgeError the errors of `TaskCall.on`, `encode` and `run`
   */
  call<R>(call: TaskCall<R>): Promise<R>;
  /**
   * Embeds texts: `call(embedCall(texts, options))`.
   *
   * @returns one vector [dimensions] per text
   */
  embed(texts: readonly string[], options?: EmbedParameters): Promise<Float32Array<ArrayBuffer>[]>;
  /**
   * Encodes inputs of a call to token sequences, with special tokens.
   *
   * @param range the inputs that are encoded. Default: all
   * @returns the sequences of the inputs, in order
   * @throws BertEdgeError `input_too_long` unless the call truncates its inputs
   */
  encode(call: ModelCall<unknown>, range?: EncodedRange): TokenSequence[];
  /**
   * Runs the model on token sequences.
   *
   * @param now clock in milliseconds, for `computeMs`
   * @throws BertEdgeError `vector_invalid` for NaN or infinite values, and the errors of `EngineSession.run`
   */
  run(sequences: readonly TokenSequence[], now?: () => number): Promise<ModelOutputs>;
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

/** Inputs of a call that are encoded together. */
export interface EncodedRange {
  readonly start: number;
  readonly end: number;
  /** Maximum number of sequences, for calls whose inputs become several. Default: any. */
  readonly most?: number | undefined;
}

export interface ModelOutputs {
  /**
   * One array per sequence: what the task of the manifest describes. `embed`: a vector [dimensions]; `sparse`: weights
   * [vocabulary]; `token-vectors`: [tokens, dimensions]; `fill-mask`: logits [mask tokens, vocabulary]; other tasks: logits.
   */
  readonly outputs: Float32Array<ArrayBuffer>[];
  /** Tokens of all sequences together. */
  readonly tokens: number;
  /** Milliseconds of computation, without the wait for the model's bytes. */
  readonly computeMs: number;
}

/**
 * Reads an artifact's tokenizer and starts `engine` with its model file. The engine may still be reading the rest of the
 * file when the returned promise resolves; see `Model.complete`.
 *
 * @throws BertEdgeError `target_missing`, `engine_mismatch`, `engine_failed`, `tokenizer_invalid`,
 *   `artifact_corrupt`, `model_invalid`, and the errors of reading files
 */
export async function startModel(artifact: Artifact, engine: Engine): Promise<Model> {
  const { manifest } = artifact;
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
  return modelOf(artifact, tokenizer, session);
}

/**
 * Makes a model of a loaded tokenizer and a session.
 *
 * @param artifact its golden texts are read when they are asked for
 */
export function modelOf(
  { manifest, version, measurements, read }: Pick<Artifact, "manifest" | "version" | "measurements" | "read">,
  tokenizer: Tokenizer,
  session: EngineSession,
): Model {
  const { name } = manifest;
  const head = vectorHead(manifest);

  /** Encoders of calls. The ranges of a call share what its encoder has read. */
  const encoders = new WeakMap<ModelCall<unknown>, ReturnType<typeof inputEncoder>>();

  function encode(call: ModelCall<unknown>, range: EncodedRange = { start: 0, end: call.inputs.length }) {
    const { inputs, truncate, encode: own } = call;
    const encodeInput = encoders.get(call) ?? inputEncoder(tokenizer, manifest, truncate);
    encoders.set(call, encodeInput);
    let room = range.most ?? Number.POSITIVE_INFINITY;
    return inputs.slice(range.start, range.end).flatMap((input, i) => {
      const index = range.start + i;
      const sequences = own ? own(tokenizer, input, index, room) : [encodeInput(input, index)];
      room -= sequences.length;
      return sequences;
    });
  }

  const ready = async (sequences: readonly TokenSequence[]) => session.ready?.(sequences);

  async function run(sequences: readonly TokenSequence[], now = () => performance.now()): Promise<ModelOutputs> {
    await ready(sequences);
    const start = now();
    const results = await session.run(sequences, head);
    const computeMs = now() - start;
    if (!results.every(isFiniteVector)) {
      throw new BertEdgeError(
        "vector_invalid",
        `${name}@${version} computed NaN or infinite values on ${session.provider}.`,
        { hint: "Run `bert-edge verify` on the artifact to see which target is wrong." },
      );
    }
    const ids = sequences.map(idsOf);
    const outputs = results.map((result, i) =>
      neededOutput(manifest, taskOutput(manifest, result), ids[i] as TokenIds),
    );
    return { outputs, tokens: totalLength(ids), computeMs };
  }

  async function call<R>(wanted: TaskCall<R>): Promise<R> {
    const fitting = wanted.on(manifest);
    return fitting.decode((await run(encode(fitting))).outputs);
  }

  async function golden(): Promise<GoldenTexts | undefined> {
    if (manifest.golden === undefined || manifest.task !== "embed") return undefined;
    return parseGolden(await read(manifest.golden), manifest.dimensions, `${name}@${version}`);
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
    call,
    embed: (texts, options) => call(embedCall(texts, options)),
    encode,
    run,
    golden,
    memoryBytes: () => session.memoryBytes(),
    release: () => session.release(),
  };
}

/** A loop takes a tenth of the time of `every`. */
function isFiniteVector(vector: Float32Array<ArrayBuffer>): boolean {
  for (const value of vector) if (!Number.isFinite(value)) return false;
  return true;
}

/** Releases a model. Logs an error instead of throwing it, because a memory leak must not make a request or load fail. */
export async function releaseModel(model: Model): Promise<void> {
  try {
    await model.release();
  } catch (error) {
    console.error(`bert-edge: releasing ${model.manifest.name}@${model.version} failed:`, error);
  }
}
