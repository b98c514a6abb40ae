import * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Parity } from "../../artifact/manifest.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import { toOrt } from "../evaluate/ort-tensor.ts";
import { numbersOf } from "../graph/tensor.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { type TokenBatch, tokenBatches } from "../quantize/token-batches.ts";
import { parity } from "./parity.ts";
import { probeInputs } from "./probe-inputs.ts";

/**
 * How close a quantized ONNX file comes to the original: the mean of every text's token states, or its logits.
 *
 * @param sequences texts' token ids. Default: batches of random tokens
 * @throws BertEdgeError `parity_impossible` when one of them does not run, or has no output to compare
 */
export async function modelAgreement(
  original: string,
  quantized: string,
  sequences?: readonly TokenIds[],
): Promise<Parity> {
  const graph = fromOnnx(await readOnnx(original));
  const output = graph.outputs[0]?.name ?? "";
  const batches = sequences
    ? sequences.map((ids) => tokenBatches(graph, [ids])[0] as TokenBatch)
    : probeInputs(graph).map(([inputs]) => inputs as TokenBatch);
  const [expected, task] = await resultsOf(original, output, batches, "disabled");
  const [found] = await resultsOf(quantized, output, batches, "all");
  return parity(expected, found, task);
}

async function resultsOf(
  path: string,
  output: string,
  batches: readonly TokenBatch[],
  graphOptimizationLevel: "disabled" | "all",
): Promise<[results: Float32Array[], task: "embed" | "classify"]> {
  const session = await ort.InferenceSession.create(path, {
    graphOptimizationLevel,
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
  });
  const results: Float32Array[] = [];
  let rank = 3;
  try {
    for (const batch of batches) {
      const feeds = Object.fromEntries([...batch].map(([name, value]) => [name, toOrt(value)]));
      const all = await session.run(feeds).catch((cause: unknown) => {
        throw new BertEdgeError("parity_impossible", `${path} does not run on a probe batch.`, { cause });
      });
      const value = all[output];
      if (value?.type !== "float32" || value.dims.length < 2 || value.dims.length > 3) {
        throw new BertEdgeError("parity_impossible", `${output} of ${path} is neither token states nor logits.`);
      }
      rank = value.dims.length;
      const mask = batch.get("attention_mask");
      results.push(...rowsOf(value, mask && numbersOf(mask)));
    }
  } finally {
    await session.release();
  }
  return [results, rank === 3 ? "embed" : "classify"];
}

/** Each text's logits, or the mean of the states of its tokens. */
function rowsOf({ dims, data }: ort.Tensor, mask: readonly number[] | undefined): Float32Array[] {
  const [texts = 0, ...rest] = dims;
  const [length, width = 0] = rest.length === 2 ? (rest as [number, number]) : [1, rest[0]];
  return Array.from({ length: texts }, (_, text) => {
    const rows = Array.from({ length }, (_, token) => text * length + token).filter(
      (row) => rest.length === 1 || mask === undefined || mask[row] === 1,
    );
    const states = Float32Array.from(
      rows.flatMap((row) => [...(data as Float32Array).subarray(row * width, (row + 1) * width)]),
    );
    return sentenceVector(states, width, { pooling: "mean", normalize: false });
  });
}
