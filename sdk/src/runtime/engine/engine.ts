import type { TargetName } from "../../artifact/manifest.ts";

/** Token ids of one text, special tokens included. */
export type TokenIds = Int32Array<ArrayBuffer>;

/** Turns a model file into something that computes. */
export interface Engine {
  readonly name: "ort-web" | "ort-node";
  /**
   * @param read the model file of a target; rejects when the artifact has no such target
   * @throws BertEdgeError `engine_failed` when no file could be loaded
   */
  load(read: (target: TargetName) => Promise<Uint8Array<ArrayBuffer>>): Promise<EngineSession>;
}

export interface EngineSession {
  /** The execution provider that computes: `wasm`, `cpu`, `cuda`, … */
  readonly provider: string;
  readonly target: TargetName;
  /** @returns for every sequence its token states, row-major [tokens, hidden], or a classifier's logits [labels] */
  run(sequences: readonly TokenIds[]): Promise<Float32Array[]>;
  /** Bytes of WebAssembly memory in use, for engines that have such. */
  memoryBytes(): number | undefined;
  release(): Promise<void>;
}
