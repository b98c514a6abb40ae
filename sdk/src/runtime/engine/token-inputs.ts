import type { TokenSequence } from "./engine.ts";
import { attendedOf, idsOf, secondFromOf } from "./token-sequence.ts";

/** Inputs of an encoder for a batch: int64 [sequences, width], padded on the right with 0. */
export interface TokenInputs {
  readonly shape: readonly [sequences: number, width: number];
  readonly ids: BigInt64Array<ArrayBuffer>;
  readonly mask: BigInt64Array<ArrayBuffer>;
  /** Token types: 1 for the second text of a pair. */
  readonly types: BigInt64Array<ArrayBuffer>;
}

/** Memory for the inputs of one call at a time. */
export interface TokenInputBuffers {
  /** Writes a batch into the buffers. The result is valid until the next call. */
  fill(sequences: readonly TokenSequence[]): TokenInputs;
}

/**
 * Makes buffers that grow to the largest batch, so that most calls allocate nothing. They are written as 32-bit halves,
 * because arrays of BigInt are slow. The low half of a number comes first: every platform of onnxruntime is
 * little-endian. High halves stay 0.
 */
export function tokenInputBuffers(): TokenInputBuffers {
  let [ids, mask, types] = [new Int32Array(), new Int32Array(), new Int32Array()];
  return {
    fill(sequences) {
      const width = Math.max(...sequences.map((sequence) => idsOf(sequence).length));
      const size = sequences.length * width;
      if (2 * size > ids.length) {
        [ids, mask, types] = [new Int32Array(2 * size), new Int32Array(2 * size), new Int32Array(2 * size)];
      }
      for (const halves of [ids, mask, types]) halves.fill(0, 0, 2 * size);
      sequences.forEach((sequence, row) => {
        const tokens = idsOf(sequence);
        const second = secondFromOf(sequence);
        const attended = attendedOf(sequence);
        for (let i = 0; i < tokens.length; i++) {
          const at = 2 * (row * width + i);
          ids[at] = tokens[i] as number;
          mask[at] = i < attended ? 1 : 0;
          types[at] = i < second ? 0 : 1;
        }
      });
      const numbers = (halves: Int32Array<ArrayBuffer>) => new BigInt64Array(halves.buffer, 0, size);
      return { shape: [sequences.length, width], ids: numbers(ids), mask: numbers(mask), types: numbers(types) };
    },
  };
}
