import * as ort from "onnxruntime-node";
import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { encodeOnnx } from "../../sdk/src/build/onnx/encode.ts";
import { runOnnx } from "./run-onnx.ts";
import { randomNumbers } from "./seeded.ts";

/** Inputs of an encoder; every row [sequence] has 1 in its mask where a token is. */
export interface Batch {
  readonly ids: readonly number[][];
  readonly mask: readonly number[][];
  readonly types: readonly number[][];
}

/** Random tokens of both types under the given masks. */
export function randomBatch(mask: readonly number[][], vocabulary: number, seed = 7): Batch {
  const random = randomNumbers(seed);
  const fill = (limit: number) => mask.map((row) => row.map(() => Math.floor(random() * limit)));
  return { mask, ids: fill(vocabulary), types: fill(2) };
}

/** States that a graph computes for every attended token of a batch, each [hidden], row by row. */
export async function attendedStates(graph: Graph, batch: Batch): Promise<Float32Array[]> {
  const shape = [batch.mask.length, batch.mask[0]?.length ?? 0];
  const feed = (rows: readonly number[][]) => new ort.Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), shape);
  const outputs = await runOnnx(encodeOnnx(graph), {
    input_ids: feed(batch.ids),
    attention_mask: feed(batch.mask),
    token_type_ids: feed(batch.types),
  });
  const output = outputs["last_hidden_state"] as ort.Tensor;
  const hidden = output.dims.at(-1) ?? 0;
  const states = output.data as Float32Array;
  return batch.mask
    .flat()
    .flatMap((attended, at) => (attended ? [states.subarray(at * hidden, (at + 1) * hidden)] : []));
}

/** The largest difference of any two numbers at the same place; NaN if any is NaN. */
export function largestDifference(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  if (a.length !== b.length || a.length === 0) throw new RangeError(`${a.length} states beside ${b.length}`);
  return Math.max(...a.flatMap((state, i) => Array.from(state, (value, j) => Math.abs(value - (b[i]?.[j] as number)))));
}
