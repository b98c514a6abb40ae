import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { countOperators } from "#test/oracles/rewritten.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import { MICROSOFT } from "../graph/node.ts";
import { splitSkipLayerNorms } from "./split-skip-layer-norms.ts";

const WIDTH = 8;
/** Both compute in float32 and add in another order. */
const TOLERANCE = 1e-6;

const numbers = (seed: number) =>
  new ort.Tensor(
    "float32",
    Float32Array.from({ length: 6 * WIDTH }, (_, i) => Math.sin(seed + 1.7 * i)),
    [2, 3, WIDTH],
  );
const feeds = { x: numbers(1), skip: numbers(2) };

const operators = [
  ["SkipLayerNormalization", "LayerNormalization", 2],
  ["SkipSimplifiedLayerNormalization", "SimplifiedLayerNormalization", 1],
] as const;

describe.each(operators)("splitSkipLayerNorms, %s", (skipping, plain, vectors) => {
  it.each<[string, { opset?: number; hasBias?: boolean; attributes?: Record<string, SketchAttribute> }]>([
    ["with a bias", { hasBias: true, attributes: { epsilon: { float: 1e-3 } } }],
    ["without a bias", { attributes: { epsilon: { float: 1e-5 } } }],
    ["with the default epsilon", {}],
    ["in opset 12", { opset: 12, attributes: { epsilon: { float: 1e-5 } } }],
  ])("computes the same, %s", async (_, { opset, hasBias = false, attributes = {} }) => {
    const s = new Sketch(opset);
    const [x, skip] = [s.input("x", ["b", "s", WIDTH]), s.input("skip", ["b", "s", WIDTH])];
    const weights = Array.from({ length: vectors + Number(hasBias) }, () => s.random([WIDTH], 1));
    const outputs = ["normalized", "", "", "sum"];
    const node = s.node(skipping, [x, skip, ...weights], attributes, { domain: MICROSOFT, outputs });
    s.output(s.op("Mul", [node.output, 2]));
    s.output(node.outputs[3] as typeof x, "sum");
    const graph = splitSkipLayerNorms(copyGraph(s.graph));
    expect(countOperators(graph)).toEqual({ Add: hasBias ? 2 : 1, [plain]: 1, Mul: 1 });
    const [[wanted], [found]] = [await runGraph(s.graph, [feeds]), await runGraph(graph, [feeds])];
    for (const name of ["result", "sum"]) {
      const [before, after] = [wanted?.[name]?.data, found?.[name]?.data] as [Float32Array, Float32Array];
      expect(after).toHaveLength(before.length);
      before.forEach((value, i) => {
        expect(Math.abs(value - (after[i] as number))).toBeLessThan(TOLERANCE);
      });
    }
  });
});
