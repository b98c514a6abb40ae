import { beforeAll, describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { attendedStates, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { observeStatistics } from "./calibration/observe-statistics.ts";
import { feedForwardLayers } from "./linear-layers.ts";
import { type Precision, precisions } from "./precisions.ts";
import { embeddingNodes, quantizableNodes } from "./quantize-graph.ts";

const integers = ["int8", "int8-mixed", "int8-blocks", "int8-edge"] as const satisfies Precision[];
const batch = randomBatch(
  Array.from({ length: 12 }, () => new Array<number>(8).fill(1)),
  50,
  3,
);

describe("precisions", () => {
  let fused: Graph;
  beforeAll(async () => {
    const { config, weights } = tinyBert();
    fused = await fusedGraph(config, weights);
  });

  it("finds the linear layers of feed-forward blocks, and not those of attention", async () => {
    const names = (graph: Graph) => feedForwardLayers(graph).map(({ name }) => name);
    expect(names(fused)).toEqual(
      [0, 1].flatMap((i) => [`layer.${i}.intermediate.product`, `layer.${i}.output.product`]),
    );
    const { config, weights } = tinyModernBert();
    const gated = await fusedGraph(config, weights);
    expect(names(gated)).toEqual(
      [0, 1, 2].flatMap((i) => ["intermediate", "up", "output"].map((part) => `layer.${i}.${part}`)),
    );
  });

  it.each(["int8", "int8-mixed", "int8-blocks"] as const)(
    "quantizes only feed-forward layers to 4 bits, in %s",
    async (precision) => {
      const nodes = [...(await precisions[precision](fused, { feedForwardBits: 4 })()).nodes];
      const narrow = nodes.filter((node) => node.opType === "MatMulNBits" && node.int("bits") === 4);
      expect(narrow).toHaveLength(4);
      for (const node of narrow) expect(node.int("K")).not.toBe(node.int("N"));
      expect(narrow.map((node) => node.int("N")).sort()).toEqual([32, 32, 64, 64]);
      expect(nodes.filter(({ opType }) => opType === "GatherBlockQuantized").map((node) => node.int("bits"))).toEqual([
        8,
      ]);
    },
  );

  it("computes attention in int8 and all other layers in blocks, in int8-mixed", async () => {
    const nodes = [...(await precisions["int8-mixed"](fused)()).nodes];
    const blocks = nodes.filter(({ opType }) => opType === "MatMulNBits");
    const layer = [
      [32, 32],
      [32, 64],
      [64, 32],
    ];
    expect(blocks.map((node) => [node.int("K"), node.int("N")])).toEqual([...layer, ...layer]);
    expect(nodes.filter(({ opType }) => opType === "QAttention")).toHaveLength(2);
  });

  it.each(integers)("quantizes only embedding tables to 4 bits, in %s", async (precision) => {
    const wide = await precisions[precision](fused)();
    const narrow = await precisions[precision](fused, { tableBits: 4 })();
    expect(countOperators(narrow)).toEqual(countOperators(wide));
    const bits = [...narrow.nodes].flatMap((node) => node.int("bits") ?? []);
    expect(bits.filter((value) => value === 4)).toHaveLength(1);
  });

  it.each(integers)(
    "keeps nodes in the next higher precision: 8-bit in float32, 4-bit in 8 bits, in %s",
    async (precision) => {
      const [table = ""] = embeddingNodes(fused);
      const layer = "layer.0.output.product";
      const quantizer = precisions[precision](fused, { tableBits: 4 });
      expect(quantizableNodes(await quantizer())).toEqual([]);
      expect(quantizableNodes(await quantizer(new Set([layer])))).toEqual([layer]);
      const kept = await quantizer(new Set([table]));
      expect(quantizableNodes(kept)).toEqual([]);
      expect([...kept.nodes].find(({ opType }) => opType === "GatherBlockQuantized")?.int("bits")).toBe(8);
      // The kept nodes of one call do not affect the next call.
      expect(quantizableNodes(await quantizer())).toEqual([]);
    },
  );

  it.each([...integers, "fp16"] as const)("does not change the graph it is given, in %s", async (precision) => {
    const before = encodeOnnx(fused);
    await precisions[precision](fused, { tableBits: 4, feedForwardBits: 4 })();
    expect(Buffer.compare(encodeOnnx(fused), before)).toBe(0);
  });

  it.each(integers)("has a smaller error with activation statistics, in %s", async (precision) => {
    const calibration = await observeStatistics(fused, [
      calibrationBatch({ ...batch, types: batch.ids.map((row) => row.map(() => 0)) }),
    ]);
    const texts = { ...randomBatch(batch.mask, 50, 4), types: batch.ids.map((row) => row.map(() => 0)) };
    const hiddenStatesOf = async (graph: Graph) =>
      precision === "int8-edge"
        ? referenceSession(graph).run(texts.ids.map((row) => Int32Array.from(row)))
        : attendedStates(graph, texts);
    const flat = (hiddenStates: readonly Float32Array[]) => hiddenStates.flatMap((state) => [...state]);
    const wanted = flat(await attendedStates(fused, texts));
    const errorOf = async (graph: Graph) =>
      flat(await hiddenStatesOf(graph)).reduce((sum, value, i) => sum + (value - (wanted[i] as number)) ** 2, 0);
    const options = { feedForwardBits: 4 } as const;
    const calibrated = await errorOf(await precisions[precision](fused, { ...options, statistics: calibration })());
    expect(calibrated).toBeLessThan(await errorOf(await precisions[precision](fused, options)()));
  });
});
