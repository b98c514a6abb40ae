import type { GoldenTexts, Manifest, TargetName } from "../artifact/manifest.ts";
import type { Measurements } from "../artifact/measurements.ts";
import type { Batching, TokenSequence } from "./engine/engine.ts";
import type { EncodedCall, ModelCall, TaskCall } from "./tasks/task-call.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** A model that an engine runs, or loads. */
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
  /** Splits the sequences of a request into batches that are as small as possible without slowing the request down much. */
  readonly batches: Batching;
  /** Resolves when `run` can run these sequences, which may be before the whole model is loaded. */
  ready(sequences: readonly TokenSequence[]): Promise<void>;
  /** Returns how many reads from the store `ready` would begin with, for rows of the token embedding table; 0 for most models. */
  pageReads(sequences: readonly TokenSequence[]): number;
  /**
   * Resolves when the whole model is loaded. `call` can be used earlier: it waits for the bytes that its texts need. If the
   * promise rejects, release the model.
   */
  readonly complete: Promise<void>;
  /** Whether the whole model is loaded. */
  isComplete(): boolean;
  /**
   * Answers a call: `encode`, `run`, and the call's own decoding.
   *
   * @throws BertEdgeError the errors of `TaskCall.on`, `encode` and `run`
   */
  call<R>(call: TaskCall<R>): Promise<R>;
  /**
   * Encodes the inputs of a call to token sequences, with special tokens.
   *
   * @throws BertEdgeError `input_too_long` unless the call truncates its inputs
   */
  encode<R, Part>(call: ModelCall<R, Part>): EncodedCall<R>;
  /**
   * Runs the model on token sequences.
   *
   * @param now clock in milliseconds, for `computeMs`
   * @throws BertEdgeError `vector_invalid` for NaN or infinite values, `model_invalid` for outputs of another size than the manifest's,
   *   `engine_failed`, and the errors of `EngineSession.run`
   */
  run(sequences: readonly TokenSequence[], now?: () => number): Promise<ModelOutputs>;
  /**
   * Reads the artifact's golden texts, with their vectors from the float32 model.
   *
   * @returns the texts; undefined for tasks other than `embed`, and if an earlier version of bert-edge has prepared the artifact
   * @throws BertEdgeError `artifact_corrupt`, `storage_unavailable`
   */
  golden(): Promise<GoldenTexts | undefined>;
  /** Returns the bytes of WebAssembly memory in use; undefined for engines that do not use WebAssembly. */
  memoryBytes(): number | undefined;
  /** Frees the model's memory. Later calls of `run` fail. */
  release(): Promise<void>;
}

export interface ModelOutputs {
  /**
   * One array per sequence. Its content depends on the task of the manifest. `embed`: a vector [dimensions]; `sparse`: weights
   * [vocabulary]; `token-vectors`: [tokens, dimensions]; `fill-mask`: logits [mask tokens, vocabulary]; other tasks: logits.
   */
  readonly outputs: Float32Array<ArrayBuffer>[];
  /** Tokens of all sequences together. */
  readonly tokens: number;
  /** Milliseconds of computation, without the wait for the model's bytes. */
  readonly computeMs: number;
}
