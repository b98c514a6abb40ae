import { join } from "node:path";
import { expect, it } from "vitest";
import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { tensor } from "#sdk/compile/graph/tensor.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { describeShared } from "../fixtures/shared.ts";
import {
  fusedCounts,
  largestOutputDifference,
  optimized,
  rewritings,
  runModel,
  type Tensors,
} from "../oracles/run-model.ts";

/**
 * Hidden states and logits have magnitudes of a few units. Another order of summation over 24 layers changes them by
 * 1e-5 at most.
 */
const TOLERANCE = 1e-4;

/** Attention masks, one string per row: `#` is attended, `.` is padding. */
const batchesOf = (length: number): Readonly<Record<string, readonly string[]>> => ({
  "right-padded": ["#".repeat(length), "#".repeat(3).padEnd(length, "."), "#".repeat(length - 1).padEnd(length, ".")],
  "left-padded": [
    "#".repeat(2).padStart(length, "."),
    "#".repeat(length),
    "#".repeat(length - 2).padStart(length, "."),
  ],
  "un-padded": ["#".repeat(length), "#".repeat(length)],
});

function feedsOf(rows: readonly string[], dtype: "int32" | "int64", vocabulary: number): Tensors {
  const random = randomNumbers(20_261_121);
  const shape = [rows.length, rows[0]?.length ?? 0];
  const feed = (values: readonly number[]) =>
    toOrt(tensor(dtype, shape, dtype === "int32" ? Int32Array.from(values) : BigInt64Array.from(values, BigInt)));
  const tokens = [...rows.join("")];
  return {
    input_ids: feed(tokens.map(() => Math.floor(random() * vocabulary))),
    token_type_ids: feed(tokens.map(() => Math.floor(random() * 2))),
    attention_mask: feed(tokens.map((token) => (token === "#" ? 1 : 0))),
  };
}

/**
 * Optimizes the model at a path. Expects the optimized model and the original to have the same results for all `feeds`.
 *
 * @returns the nodes of the optimized graph
 */
async function nodesAfter(path: string, feeds: readonly Tensors[]): Promise<readonly { readonly opType: string }[]> {
  const { graph, bytes } = await optimized(await readOnnx(path));
  const wanted = await runModel(path, feeds);
  for (const rewriting of rewritings) {
    const found = await runModel(bytes, feeds, rewriting);
    for (const [i, outputs] of wanted.entries()) {
      expect(largestOutputDifference(found[i] ?? {}, outputs), `batch ${i}, ${rewriting}`).toBeLessThan(TOLERANCE);
    }
  }
  return [...graph.nodes];
}

describeShared("corpus", "BERT of 24 layers, exported from TensorFlow as 3,836 nodes", (folder) => {
  it("is fused completely, and computes the same", async () => {
    const path = join(folder, "TFBertForQuestionAnswering.onnx");
    expect((await readOnnx(path)).graph?.node).toHaveLength(3_836);
    // The file fixes the length at 7 and has a vocabulary of 20.
    const feeds = Object.values(batchesOf(7)).map((rows) => feedsOf(rows, "int32", 20));
    expect(fusedCounts(await nodesAfter(path, feeds))).toEqual({
      EmbedLayerNormalization: 1,
      Attention: 24,
      SkipLayerNormalization: 48,
      BiasGelu: 24,
    });
  });
});

describeShared("models/all-MiniLM-L6-v2", "all-MiniLM-L6-v2 with its real weights, some of them external", (folder) => {
  it("is fused completely into at most 50 nodes, and computes the same", async () => {
    const lengths = [5, 16, 40].flatMap((length) => Object.values(batchesOf(length)));
    const nodes = await nodesAfter(
      join(folder, "model.onnx"),
      lengths.map((rows) => feedsOf(rows, "int64", 30_522)),
    );
    expect(fusedCounts(nodes)).toEqual({
      EmbedLayerNormalization: 1,
      Attention: 6,
      SkipLayerNormalization: 12,
      BiasGelu: 6,
    });
    expect(nodes.length).toBeLessThanOrEqual(50);
  });
});
