import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { attendedStates, largestDifference, randomBatch } from "#test/fixtures/encoder-batch.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { floatCasts, halved } from "#test/oracles/halved.ts";
import { fusedCounts } from "#test/oracles/run-model.ts";
import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../../checkpoint/encoder-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";
import { toFp16 } from "./to-fp16.ts";

/** Minimum cosine between fp16 and float32 hidden states. Measured: 0.999998 at worst over six seeds. */
const MIN_COSINE = 0.999_99;

const { config, weights } = tinyBert();
const fused = await fusedGraph(config, weights);
const batch = randomBatch(
  [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 1, 1, 0, 1, 0],
  ],
  50,
);

describe("toFp16", () => {
  it("stays close to the float32 model under every padding", async () => {
    const expected = await attendedStates(encoderGraph(config, weights), batch);
    const hiddenStates = await attendedStates(toFp16(fused), batch);
    hiddenStates.forEach((state, i) => {
      expect(cosine(state, expected[i] as Float32Array)).toBeGreaterThan(MIN_COSINE);
    });
    // The difference between two float32 graphs would be smaller, so this proves that the graph runs in float16.
    expect(largestDifference(hiddenStates, expected)).toBeGreaterThan(1e-4);
  });

  it("converts all weights, and keeps the types of inputs and outputs", () => {
    const graph = toFp16(fused);
    const weightTypes = [...graph.constants()].map(({ dtype }) => dtype).filter((dtype) => dtype?.startsWith("float"));
    expect(new Set(weightTypes)).toEqual(new Set(["float16"]));
    expect(weightTypes).toHaveLength([...fused.constants()].filter(({ dtype }) => dtype === "float32").length);
    const declared = ({ inputs, outputs }: typeof graph) => [
      ...inputs.map(({ name, dtype, shape }) => [name, dtype, `${shape}`]),
      ...outputs.map(({ name, value: { dtype, shape } }) => [name, dtype, `${shape}`]),
    ];
    expect(declared(graph)).toEqual(declared(fused));
  });

  it("converts every node of a completely fused graph, except for the output's cast", () => {
    const graph = toFp16(fused);
    const inHalf = [...graph.nodes].filter(({ output }) => output.dtype === "float16");
    expect(fusedCounts(inHalf)).toEqual(fusedCounts(fused.nodes));
    expect(fusedCounts(inHalf)["Attention"]).toBe(config.layers);
    expect(floatCasts(graph).map(({ output }) => output)).toEqual(graph.outputs.map(({ value }) => value));
  });

  it("does not change the graph it is given", () => {
    const before = encodeOnnx(fused);
    toFp16(fused);
    expect(encodeOnnx(fused)).toEqual(before);
  });

  it("does not change a graph that is in half precision", () => {
    const once = toFp16(fused);
    expect(encodeOnnx(toFp16(once))).toEqual(encodeOnnx(once));
  });
});

describe("toFp16, for casts", () => {
  const drawn = (draw: (s: Sketch, x: ReturnType<Sketch["input"]>) => void): Graph => {
    const s = new Sketch();
    draw(s, s.input("x", [2, 4]));
    return s.graph;
  };
  const feeds = [{ x: new ort.Tensor("float32", Float32Array.of(1, -2, 3, -4, 0.5, 0, 7, 8), [2, 4]) }];

  it("does not cast back and forth between MatMuls", async () => {
    const original = drawn((s, x) => {
      const y = s.op("MatMul", [x, s.random([4, 4])]);
      const half = s.op("Cast", [y], { to: CAST.float16 });
      const back = s.op("Cast", [half], { to: CAST.float32 });
      s.output(s.op("MatMul", [back, s.random([4, 4])]));
    });
    const { graph } = await halved(original, feeds);
    expect(floatCasts(graph).map(({ inputs: [value] }) => value?.name)).toEqual(["x", "MatMul_1"]);
  });

  it("removes casts from float32 to float32", async () => {
    const original = drawn((s, x) => {
      const idle = s.op("Cast", [s.op("MatMul", [x, s.random([4, 4])])], { to: CAST.float32 });
      s.output(s.op("MatMul", [idle, s.random([4, 4])]));
    });
    expect(floatCasts((await halved(original, feeds)).graph)).toHaveLength(2);
  });

  it("casts a value once for all readers, and stores a constant once per precision", async () => {
    const original = drawn((s, x) => {
      const shared = s.random([4]);
      const results = [1, 2].map(() => s.op("MatMul", [x, s.random([4, 4])]));
      for (const [i, result] of results.entries()) {
        s.output(s.op("Add", [s.op("Exp", [result]), shared]), `exp ${i}`);
        s.output(s.op("Add", [result, shared]), `sum ${i}`);
      }
    });
    const { graph } = await halved(original, feeds);
    // One cast converts x to float16. The others convert to float32: the results of both MatMuls for Exp, and both sums
    // for the outputs.
    expect(floatCasts(graph)).toHaveLength(1 + 2 + 2);
    expect([...graph.constants()].map(({ dtype, shape }) => `${dtype}[${shape}]`).sort()).toEqual(
      ["float16[4,4]", "float16[4,4]", "float16[4]", "float32[4]"].sort(),
    );
  });
});
