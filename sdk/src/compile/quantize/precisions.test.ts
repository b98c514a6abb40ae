import { beforeAll, describe, expect, it } from "vitest";
import { calibrationBatch } from "#test/fixtures/calibration-batch.ts";
import { attendedStates, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { tinyModernBert } from "#test/fixtures/tiny-modernbert.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { observeStatistics } from "./calibration/observe-statistics.ts";
import { feedForwardLayers, type LinearLayer, linearLayersOf } from "./linear-layers.ts";
import { allInGroups, edgeQuantizers, type Precision, precisions } from "./precisions.ts";
import { embeddingNodes, quantizableNodes } from "./quantize-graph.ts";

const integers = ["int8", "int8-mixed", "int8-blocks", "int8-edge"] as const satisfies Precision[];
const batch = randomBatch(
  Array.from({ length: 12 }, () => new Array<number>(8).fill(1)),
  50,
  3,
);

/** The operators of all nodes, sorted. */
const operatorsOf = ({ nodes }: Graph) => [...nodes].map(({ opType }) => opType).sort();

/** The bits of all embedding tables. */
const tablesOf = ({ nodes }: Graph) =>
  [...nodes].flatMap((node) => {
    if (node.opType === "GatherBlockQuantized") return [node.int("bits")];
    return node.opType === "LookupLevels" ? [4] : [];
  });

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
    const levels = ["GatherBlockQuantized", "LookupLevels"] as const;
    const [from, to] = precision === "int8-edge" ? levels : [levels[0], levels[0]];
    expect(operatorsOf(narrow)).toEqual(
      operatorsOf(wide)
        .map((opType) => (opType === from ? to : opType))
        .sort(),
    );
    expect(tablesOf(narrow)).toEqual([4]);
    const bits = [...narrow.nodes].filter(({ opType }) => !opType.startsWith("Gather")).map((node) => node.int("bits"));
    expect(bits).not.toContain(4);
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
      expect(tablesOf(kept)).toEqual([8]);
      // The kept nodes of one call do not affect the next call.
      expect(quantizableNodes(await quantizer())).toEqual([]);
    },
  );

  describe("int8-edge with weights of 4 bits", () => {
    /** The groups of all linear layers, by the name of the float32 weight. Layers in 8 bits have none. */
    const groupsOf = ({ nodes }: Graph) =>
      new Map(
        [...nodes]
          .filter((node) => node.opType === "DynamicQuantizeMatMul")
          .map((node) => [node.inputs[1]?.name.replace(/\.uint8$/, ""), node.int("group")]),
      );
    const layersOf = (graph: Graph) => edgeQuantizers(graph, undefined).layers;

    it("quantizes all linear layers, and no table, in groups of 16", async () => {
      const quantized = await precisions["int8-edge"](fused, { weightBits: 4 })();
      expect(groupsOf(quantized)).toEqual(new Map(layersOf(fused).map(({ weight }) => [weight.name, 16])));
      expect(groupsOf(quantized).size).toBe(8);
      expect(tablesOf(quantized)).toEqual([8]);
      expect(quantizableNodes(quantized)).toEqual([]);
    });

    it("keeps a layer in 8 bits, and leaves the others in 4 bits", async () => {
      const [layer] = layersOf(fused).slice(-1) as [LinearLayer];
      const quantizer = precisions["int8-edge"](fused, { weightBits: 4, tableBits: 4 });
      const [all, kept] = [await quantizer(), await quantizer(new Set([layer.name]))].map(groupsOf) as [
        ReturnType<typeof groupsOf>,
        ReturnType<typeof groupsOf>,
      ];
      expect(all.get(layer.weight.name)).toBe(16);
      expect(kept).toEqual(new Map([...all, [layer.weight.name, undefined]]));
      const without = await quantizer(new Set([layer.name, ...embeddingNodes(fused)]));
      expect([groupsOf(without), tablesOf(without)]).toEqual([kept, [8]]);
      expect(groupsOf(await quantizer())).toEqual(all);
    });

    it("leaves layers in 8 bits whose inputs are not a multiple of 16", async () => {
      const { config, weights } = tinyModernBert();
      const gated = await fusedGraph(config, weights);
      const groups = groupsOf(await precisions["int8-edge"](gated, { weightBits: 4 })());
      const inputs = linearLayersOf(gated).map(({ weight }) => [weight.name, weight.constant.shape[0]] as const);
      expect(new Set(inputs.map(([, count]) => count))).toEqual(new Set([24, 32]));
      const of24 = [...groups.values()].filter((group) => group === undefined);
      expect(of24).toHaveLength(inputs.filter(([, count]) => count === 24).length);
      for (const [name, count] of inputs) if (count === 24) expect(groups.get(name)).toBeUndefined();
      expect(new Set(groups.values())).toEqual(new Set([16, undefined]));
    });

    it("puts each layer in groups of the size that is chosen", async () => {
      const { layers, tables, quantizer } = edgeQuantizers(fused, undefined);
      expect(tables).toEqual(embeddingNodes(fused));
      const chosen = layers.map((layer, i) => ({ ...layer, group: ([16, 32, undefined] as const)[i % 3] }));
      const groups = new Map(chosen.flatMap(({ name, group }) => (group ? [[name, group] as const] : [])));
      const found = await quantizer({ tableBits: 8, groups })();
      expect(groupsOf(found)).toEqual(new Map(chosen.map(({ weight, group }) => [weight.name, group])));
      // The quantizers share no choice.
      const wide = groupsOf(await quantizer({ tableBits: 4, groups: new Map() })());
      expect(wide).toEqual(new Map(layers.map(({ weight }) => [weight.name, undefined])));
    });

    it("refuses groups of 32 for inputs that are a multiple of 16 only", async () => {
      const s = new Sketch();
      const ids = s.input("input_ids", ["batch", "sequence"], "int64");
      const x = s.op("Gather", [s.random([50, 48]), ids]);
      s.output(s.op("MatMul", [x, s.random([48, 16])]));
      const { layers, quantizer } = edgeQuantizers(s.graph, undefined);
      const inGroups = (group: 16 | 32) => quantizer({ tableBits: 8, groups: allInGroups(layers, group) })();
      expect([...groupsOf(await inGroups(16)).values()]).toEqual([16]);
      await expect(inGroups(32)).rejects.toThrow(/48 inputs cannot be divided into groups of 32/);
    });
  });

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
