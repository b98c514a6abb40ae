import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import type { ModelProto } from "#sdk/compile/proto/onnx-messages.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { describeShared } from "../fixtures/shared.ts";
import { randomFeeds } from "../oracles/random-feeds.ts";
import {
  fusedCounts,
  largestOutputDifference,
  optimized,
  rewritings,
  runModel,
  type Tensors,
} from "../oracles/run-model.ts";

type Counts = Readonly<Record<string, number>>;
/** Operator counts of each file before and after onnxruntime's own optimizer. */
type Expected = Readonly<Record<string, { readonly before: Counts; readonly after_ort_extended_cpu: Counts }>>;

/** Files of onnxruntime's tests for fusions that bert-edge makes too. The other files test other rewrites. */
const FUSIONS =
  /^(gelu|fast_gelu|bias_gelu|bias_onnx_|layer_norm|skip_layer_norm|embed_layer_norm|attention_)[^/]*\.onnx$/;

/**
 * Inputs are within ±1, and outputs have magnitudes of a few units. Another order of summation changes outputs by 1e-5
 * at most.
 */
const TOLERANCE = 1e-4;

/** Number of random input sets per file. */
const BATCHES = 4;

/**
 * Operators, each with the larger operators that include its work. Where an operator is expected, its larger operators
 * count too.
 */
const subsumedBy: Readonly<Record<string, readonly string[]>> = {
  LayerNormalization: ["SkipLayerNormalization", "EmbedLayerNormalization"],
  SkipLayerNormalization: ["EmbedLayerNormalization"],
  Gelu: ["BiasGelu"],
};

/**
 * Graphs that onnxruntime refuses to run with any input, and the operation that fails. onnxruntime's tests only inspect
 * these graphs.
 */
const neverRun: Readonly<Record<string, string>> = {
  "attention_distilbert.onnx": "a Reshape to another number of elements",
  "embed_layer_norm_format1.onnx": "a lookup of row 39 in a table of one",
  "embed_layer_norm_format2.onnx": "a lookup of row 39 in a table of one",
  "embed_layer_norm_format4.onnx": "a lookup of row 39 in a table of one",
  "embed_layer_norm_format7.onnx": "three positions, and a table of two",
  "embed_layer_norm_format7_opset13.onnx": "three positions, and a table of two",
  "fuse-matmul-bn-directly-dont-fuse.onnx": "a BatchNormalization of another width",
  "fuse-matmul-bn-only-reshape.onnx": "a BatchNormalization of another width",
  "reshape_fusion_concat_subgraph_mul.onnx": "a Reshape to another number of elements",
  "reshape_fusion_concat_subgraph_not_triggered.onnx": "a Reshape to another number of elements",
  "reshape_fusion_multiple_values_in_initializer_tensor_1.onnx": "a Reshape to another number of elements",
};

/**
 * Settings for random inputs: `smallest` is the smallest dimension, and random integers are less than `below`. The
 * settings are tried in order until the graph runs. Some files need small integers, because their lookup tables have
 * few rows.
 */
const attempts = [
  { smallest: 3, below: 8 },
  { smallest: 3, below: 2 },
  { smallest: 1, below: 2 },
  { smallest: 1, below: 1 },
];

interface Run {
  readonly feeds: readonly Tensors[];
  readonly outputs: readonly Tensors[];
}

/** Returns the first random inputs on which a model runs, and its outputs; undefined if all attempts fail. */
async function firstRun(path: string, { graph }: ModelProto): Promise<Run | undefined> {
  for (const { smallest, below } of attempts) {
    const random = randomNumbers(20_261_121);
    const sizes = new Map<string, number>();
    const sizeOf = (name: string) => {
      // Give every dimension a different size, so that the test fails if two dimensions are confused.
      if (!sizes.has(name)) sizes.set(name, smallest === 1 ? 1 : smallest + sizes.size);
      return sizes.get(name) as number;
    };
    const feeds = Array.from({ length: BATCHES }, () => graph && randomFeeds(graph, { random, sizeOf, below }));
    const given = feeds.filter((feed) => feed !== undefined);
    const outputs = await runModel(path, given).catch(() => undefined);
    if (outputs) return { feeds: given, outputs };
  }
  return undefined;
}

const fusedByOrt = (after: Counts): Record<string, number> => {
  const nodes = Object.entries(after).flatMap(([name, count]) =>
    Array.from({ length: count }, () => ({ opType: name.split(":").at(-1) as string })),
  );
  return fusedCounts(nodes);
};

/** Counts an operator and the operators that include its work. */
const atLeast = (counts: Counts, name: string): number =>
  [name, ...(subsumedBy[name] ?? [])].reduce((sum, each) => sum + (counts[each] ?? 0), 0);

describeShared("corpus/ort-units", "a graph of onnxruntime's own tests", (folder) => {
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".onnx")) : [];
  const expectedOf = () => JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Expected;

  it("is one of the expected files", () => {
    expect(files).toHaveLength(Object.keys(expectedOf()).length);
    expect(files).toEqual(expect.arrayContaining(Object.keys(neverRun)));
  });

  describe("is fused at least as far as onnxruntime fuses it:", () => {
    it.each(files.filter((name) => FUSIONS.test(name)))("%s", async (name) => {
      const { graph } = await optimized(await readOnnx(join(folder, name)));
      const [ours, theirs] = [fusedCounts(graph.nodes), fusedByOrt(expectedOf()[name]?.after_ort_extended_cpu ?? {})];
      const behind = Object.keys(theirs).filter((kind) => atLeast(ours, kind) < atLeast(theirs, kind));
      expect(behind, `${JSON.stringify(ours)} instead of ${JSON.stringify(theirs)}`).toEqual([]);
    });
  });

  describe("computes the same:", () => {
    it.each(files)("%s", async (name) => {
      const path = join(folder, name);
      const model = await readOnnx(path);
      const run = await firstRun(path, model);
      expect(run === undefined, neverRun[name] ?? "The original runs on none of the random inputs.").toBe(
        name in neverRun,
      );
      const { bytes } = await optimized(model);
      if (!run) return;
      for (const rewriting of rewritings) {
        const found = await runModel(bytes, run.feeds, rewriting);
        for (const [i, outputs] of run.outputs.entries()) {
          expect(largestOutputDifference(found[i] ?? {}, outputs), `batch ${i}, ${rewriting}`).toBeLessThan(TOLERANCE);
        }
      }
    });
  });
});
