import type { Destination } from "../../artifact/fill.ts";
import type { Pooling, Target, TargetName } from "../../artifact/manifest.ts";

/** Token ids of one text, special tokens included. */
export type TokenIds = Int32Array<ArrayBuffer>;

/** The model files of an artifact, by target. Every method throws `target_missing` for a target that it does not have. */
export interface ModelFiles {
  /** Of a target's model file, in bytes. */
  size(target: TargetName): number;
  read(target: TargetName): Promise<Uint8Array<ArrayBuffer>>;
  readInto(target: TargetName, destination: Destination): Promise<void>;
}

/** Turns a model file into something that computes. */
export interface Engine {
  readonly name: Target["engine"];
  /** @throws BertEdgeError `engine_failed` when no file could be loaded, or what reading throws */
  load(source: ModelFiles): Promise<EngineSession>;
}

/** How token states become a vector. */
export interface VectorHead {
  readonly pooling: Pooling;
  /** To Euclidean length 1. */
  readonly normalize: boolean;
}

export interface EngineSession {
  /** The execution provider that computes: `wasm`, `cpu`, `cuda`, … */
  readonly provider: string;
  readonly target: TargetName;
  /**
   * @throws BertEdgeError of the engine, and what reading failed with where it has not come to an end
   * @param head default: none, and results are what the model computes
   * @returns for every sequence its vector; without a head its token states, row-major [tokens, hidden], or a classifier's
   *   logits [labels]
   */
  run(sequences: readonly TokenIds[], head?: VectorHead): Promise<Float32Array<ArrayBuffer>[]>;
  /**
   * Resolves when all of the model has come, until when `run` waits for what its sequences need; undefined for engines that
   * load a model as a whole. Where it rejects, with what reading failed with, the session is to be released.
   */
  readonly complete?: Promise<void> | undefined;
  /** Resolves when all that these sequences need has come, for those who time `run`. */
  readonly ready?: ((sequences: readonly TokenIds[]) => Promise<void>) | undefined;
  /** Bytes of WebAssembly memory in use, for engines that have such. */
  memoryBytes(): number | undefined;
  release(): Promise<void>;
}

/** One file in memory as the model of every target. */
export const oneModel = (bytes: Uint8Array<ArrayBuffer>): ModelFiles => ({
  size: () => bytes.length,
  read: async () => bytes,
  readInto: async (_, destination) => destination.bytes().set(bytes),
});
