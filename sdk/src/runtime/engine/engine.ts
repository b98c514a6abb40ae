import type { Destination } from "../../artifact/fill.ts";
import type { Pooling, Target, TargetName } from "../../artifact/manifest.ts";

/** Token ids of one text, special tokens included. */
export type TokenIds = Int32Array<ArrayBuffer>;

/** Token ids, special tokens included, with marks that tell the engine how to treat them. */
export interface MarkedTokens {
  readonly ids: TokenIds;
  /** Index of the first token with token type 1. Default: all tokens have type 0. */
  readonly secondFrom?: number | undefined;
  /**
   * Number of tokens at the start of the sequence that all tokens attend to. Default: all. The model computes the other tokens
   * too, as ColBERT needs them to expand queries.
   */
  readonly attended?: number | undefined;
  /** Index of the first token that is pooled. Default 0. */
  readonly pooledFrom?: number | undefined;
}

/** Token ids of two texts in one sequence, special tokens included. */
export interface TokenPair extends MarkedTokens {
  /** Index of the first token with token type 1; the number of tokens if all have type 0. */
  readonly secondFrom: number;
}

/** Input of an engine: one text, whose tokens have token type 0, or tokens with marks, such as a pair of texts. */
export type TokenSequence = TokenIds | MarkedTokens;

/** Splits sequences into batches. A batch is a list of indices, and each sequence is in one batch. */
export type Batching = (sequences: readonly { readonly length: number }[]) => readonly (readonly number[])[];

/** Reads the model files of an artifact, by target. Every method throws `target_missing` when the artifact has no such target. */
export interface ModelFiles {
  /** @returns the size of the target's model file in bytes */
  size(target: TargetName): number;
  read(target: TargetName): Promise<Uint8Array<ArrayBuffer>>;
  readInto(target: TargetName, destination: Destination): Promise<void>;
  /** @returns the size in bytes of the pages of the target's token embedding table; 0 if the model file has the whole table */
  pagesSize(target: TargetName): number;
  /** Reads bytes of the pages. */
  readPages(target: TargetName, begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the path of the target's model file, for engines that read files themselves. Missing if the model is not a local file. */
  path?(target: TargetName): string;
}

/** Maximum number of reads of pages at the same time. Workers allow six connections. */
export const MAX_PAGE_READS = 6;

/** Loads a model file and returns a session that runs it. */
export interface Engine {
  readonly name: Target["engine"];
  /** Whether a batch occupies the calling thread until it ends, so that nothing else can run meanwhile. */
  readonly blocksThread: boolean;
  /** Whether the first calls take longer, because the engine is compiled while it runs. Default false. */
  readonly compilesAsItRuns?: boolean | undefined;
  /** @throws BertEdgeError, such as `engine_failed` or `memory_full`, and the errors of reading a file */
  load(source: ModelFiles): Promise<EngineSession>;
}

/** Pooling and normalization that turn hidden states into a vector. */
export interface VectorHead {
  readonly pooling: Pooling;
  /** Whether the vector is divided by its Euclidean norm. */
  readonly normalize: boolean;
}

/** The sizes of a model, as its file gives them. */
export interface ModelShape {
  /** Maximum length of a sequence in tokens. */
  readonly maxTokens: number;
  /** All token ids are smaller than this number. */
  readonly vocabulary: number;
  /** Numbers in each row of the model's output. */
  readonly width: number;
}

export interface EngineSession {
  /** The execution provider that runs the model: `wasm`, `cpu`, `cuda`, … */
  readonly provider: string;
  /** Execution providers that were tried first and could not load the model. */
  readonly passedOver?: readonly { readonly provider: string; readonly why: string }[] | undefined;
  readonly target: TargetName;
  /** Number of calls of `run` that are computed side by side. Default 1. */
  readonly parallel?: number | undefined;
  /** Splits the sequences of a request into batches that are as small as possible without slowing the request down much. */
  readonly batches: Batching;
  /** The sizes of the loaded model; undefined for engines whose model files do not give them. */
  readonly shape?: ModelShape | undefined;
  /**
   * Runs the model.
   *
   * @param head pooling and normalization of the output. Default: none
   * @returns one array per sequence. With `head`, this is a vector [hidden]. Without `head`, it is the model's own output:
   *   hidden states [tokens, hidden], or the logits [labels] of a classifier.
   * @throws BertEdgeError the errors of the engine. While the model is still loading, also the errors of reading it
   */
  run(sequences: readonly TokenSequence[], head?: VectorHead): Promise<Float32Array<ArrayBuffer>[]>;
  /**
   * Resolves when the whole model is loaded. `run` can be called earlier: it waits only for the bytes that its
   * sequences need. If reading the model file fails, the promise rejects with this error. Then release the session.
   * `complete` is undefined for engines that load the whole model before they return a session.
   */
  readonly complete?: Promise<void> | undefined;
  /**
   * Resolves when the bytes that these sequences need are loaded. Await this promise before measuring the time of `run`.
   */
  readonly ready?: ((sequences: readonly TokenSequence[]) => Promise<void>) | undefined;
  /**
   * Returns how many reads from the store these sequences need first, because rows of the token embedding table are not in memory.
   * Undefined if the whole table is.
   */
  readonly pageReads?: ((sequences: readonly TokenSequence[]) => number) | undefined;
  /** Bytes of WebAssembly memory in use; undefined for engines that do not use WebAssembly. */
  memoryBytes(): number | undefined;
  release(): Promise<void>;
}

/**
 * Returns model files that have the same bytes for every target.
 *
 * @param pages the pages of the token embedding table; empty if the model file has the whole table
 */
export const oneModel = (bytes: Uint8Array, pages: Uint8Array = new Uint8Array()): ModelFiles => ({
  size: () => bytes.length,
  read: async () => Uint8Array.from(bytes),
  readInto: async (_, destination) => destination.bytes().set(bytes),
  pagesSize: () => pages.length,
  readPages: async (_, begin, end) => Uint8Array.from(pages.subarray(begin, end)),
});
