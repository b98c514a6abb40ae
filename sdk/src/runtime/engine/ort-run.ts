import type { Tensor as OrtTensor, TensorConstructor } from "onnxruntime-common";
import type { EngineSession, TokenSequence } from "./engine.ts";
import { tokenInputBuffers } from "./token-inputs.ts";
import { idsOf, pooledFromOf } from "./token-sequence.ts";
import { withHead } from "./with-head.ts";

/**
 * An encoder that onnxruntime has loaded. Its inputs are `input_ids`, `attention_mask` and, for some families,
 * `token_type_ids`. Its first output is hidden states [batch, sequence, hidden], or logits [batch, labels]. It may also
 * have the output `VECTOR_OUTPUT`.
 */
export interface OrtEncoder {
  session: OrtSession;
  Tensor: TensorConstructor;
}

/** The part of onnxruntime's `InferenceSession` that the engine uses. */
export interface OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /** Computes one output. */
  run(
    feeds: Record<string, OrtTensor>,
    outputs: readonly [name: string],
  ): Promise<Readonly<Record<string, { readonly data: unknown; readonly dims: readonly number[] }>>>;
  release(): Promise<void>;
}

/** Name of the output with pooled and normalized vectors, float32 [batch, width]. */
export const VECTOR_OUTPUT = "sentence_vector";

/**
 * Returns a function that runs one batch. The encoder's graph pools the hidden states if it has `VECTOR_OUTPUT` and all tokens of
 * all sequences are pooled. Otherwise, the function pools the hidden states itself.
 */
export function ortRun(encoder: OrtEncoder): EngineSession["run"] {
  const { outputNames } = encoder.session;
  const run = padded(encoder);
  const states = withHead((sequences) => run(sequences, outputNames[0] as string));
  if (!outputNames.includes(VECTOR_OUTPUT)) return states;
  const isWhole = (sequence: TokenSequence) => pooledFromOf(sequence) === 0;
  return (sequences, head) =>
    head && sequences.every(isWhole) ? run(sequences, VECTOR_OUTPUT) : states(sequences, head);
}

/**
 * Returns a function that makes one call for all sequences, padded on the right to the length of the longest one. It
 * returns the rows of an output for each sequence, without padding.
 */
function padded({ session, Tensor }: OrtEncoder) {
  // Buffers that no call uses. Calls can overlap, so each call takes its own: onnxruntime reads the inputs of a call later.
  const free = [tokenInputBuffers()];
  const hasTypes = session.inputNames.includes("token_type_ids");

  return async (sequences: readonly TokenSequence[], name: string): Promise<Float32Array<ArrayBuffer>[]> => {
    const buffers = free.pop() ?? tokenInputBuffers();
    try {
      const { shape, ids, mask, types } = buffers.fill(sequences);
      const int64 = (data: BigInt64Array) => new Tensor("int64", data, shape);
      const feeds: Record<string, OrtTensor> = { input_ids: int64(ids), attention_mask: int64(mask) };
      // Many model families have no input for token types.
      if (hasTypes) feeds["token_type_ids"] = int64(types);
      const output = (await session.run(feeds, [name]))[name] as OrtTensor;
      const all = output.data as Float32Array<ArrayBuffer>;
      const rows = output.dims.length === 3 ? shape[1] : 1;
      const size = all.length / (sequences.length * rows);
      return sequences.map((sequence, row) => {
        const length = Math.min(idsOf(sequence).length, rows);
        return all.subarray(row * rows * size, (row * rows + length) * size);
      });
    } finally {
      free.push(buffers);
    }
  };
}
