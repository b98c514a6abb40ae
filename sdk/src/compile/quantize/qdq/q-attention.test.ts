import { describe, expect, it } from "vitest";
import { type Grid, integerWeight, quantized, signed, unsigned } from "#test/fixtures/quantized-sketch.ts";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { integerForm } from "#test/oracles/integer-form.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";

const [HIDDEN, HEADS] = [8, 2];
const columns = Array.from({ length: HIDDEN }, (_, i) => 0.00117 * (i + 1));
const zeros = Array.from({ length: HIDDEN }, (_, i) => i - 4);

interface Parts {
  /** Weights of queries, keys and values. */
  readonly weights?: readonly [Grid, Grid, Grid];
  readonly biased?: readonly [boolean, boolean, boolean];
  readonly x?: Grid;
  readonly mask?: (s: Sketch) => Value | undefined;
  /** Returns the inputs of MultiHeadAttention that follow the mask. */
  readonly more?: (s: Sketch) => readonly Value[];
  readonly settings?: Parameters<Sketch["op"]>[2];
  /** Adds more nodes that read the projections. */
  readonly otherReaders?: (s: Sketch, projections: readonly Value[]) => void;
}

const perTensor: Grid = { dtype: "int8", scale: 0.00531, zero: 0 };
const perColumn: Grid = { dtype: "int8", scale: columns, zero: columns.map(() => 0), axis: 1 };

const keys = (s: Sketch) => s.input("mask", ["batch", "sequence"], "int32");

function attention(s: Sketch, parts: Parts = {}): Value {
  const { weights = [perTensor, perTensor, perTensor], biased = [true, true, true], x = signed, mask = keys } = parts;
  const read = quantized(s, s.input("x", ["batch", "sequence", HIDDEN]), x);
  const projections = weights.map((grid, i) => {
    const projected = s.op("MatMul", [read, integerWeight(s, [HIDDEN, HIDDEN], grid)]);
    return biased[i] ? s.op("Add", [projected, s.random([HIDDEN])]) : projected;
  });
  parts.otherReaders?.(s, projections);
  const inputs = [...projections, undefined, mask(s), ...(parts.more?.(s) ?? [])];
  return s.op("MultiHeadAttention", inputs, { num_heads: HEADS, ...parts.settings }, { domain: MICROSOFT });
}

const formOf = (parts: Parts) => integerForm((s) => s.output(attention(s, parts)));

describe("QAttention", () => {
  it.each<[string, Parts]>([
    [
      "one scale per weight matrix",
      { weights: [perTensor, { ...perTensor, scale: 0.00371 }, { ...perTensor, scale: 0.00233 }] },
    ],
    ["a scale for every column", { weights: [perColumn, perColumn, perColumn] }],
    ["scales per matrix and per column", { weights: [perTensor, perColumn, perTensor] }],
    [
      "zero points for some weights",
      { weights: [{ ...perColumn, zero: zeros }, perTensor, { ...perTensor, zero: 5 }] },
    ],
    ["weights of uint8", { weights: [0, 7, 130].map((zero) => ({ ...perTensor, dtype: "uint8", zero })) as never }],
    ["an input of uint8", { x: unsigned }],
    ["biases for some projections", { biased: [true, false, true] }],
    ["no mask", { mask: () => undefined }],
    [
      "a scale of the scores and a mask filter value",
      { settings: { scale: { float: 0.3 }, mask_filter_value: { float: -50 } } },
    ],
  ])("replaces attention and its three projections, with %s", async (_, parts) => {
    const { counts } = await formOf(parts);
    expect(counts).toEqual({ QuantizeLinear: 1, QAttention: 1 });
  });

  it("reads the results of DynamicQuantizeLinear", async () => {
    const { counts } = await integerForm((s) => {
      const [data, scale, zero] = s.node(
        "DynamicQuantizeLinear",
        [s.input("x", ["batch", "sequence", HIDDEN])],
        {},
        { outputs: ["d", "s", "z"] },
      ).outputs;
      const x = s.op("DequantizeLinear", [data, scale, zero]);
      const projections = [0, 1, 2].map(() => s.op("MatMul", [x, integerWeight(s, [HIDDEN, HIDDEN], perTensor)]));
      s.output(s.op("MultiHeadAttention", projections, { num_heads: HEADS }, { domain: MICROSOFT }));
    });
    expect(counts).toEqual({ DynamicQuantizeLinear: 1, QAttention: 1 });
  });

  it("shares packed weights between layers that share their weights", async () => {
    const { graph, counts } = await integerForm((s) => {
      const weights = [0, 1, 2].map(() => integerWeight(s, [HIDDEN, HIDDEN], perColumn));
      const layer = (x: Value) => {
        const projections = weights.map((weight) => s.op("MatMul", [quantized(s, x, signed), weight]));
        return s.op("MultiHeadAttention", projections, { num_heads: HEADS }, { domain: MICROSOFT });
      };
      s.output(layer(layer(s.input("x", ["batch", "sequence", HIDDEN]))));
    });
    expect(counts).toEqual({ QuantizeLinear: 2, QAttention: 2 });
    expect([...graph.constants()].filter(({ constant }) => constant?.shape.length === 2)).toHaveLength(1);
  });

  it.each<[string, Parts]>([
    ["a projection has other readers", { otherReaders: (s, [q]) => s.output(s.op("Relu", [q]), "other") }],
    ["a bias is added to the scores", { more: (s) => [s.random([1, HEADS, 5, 5])] }],
    ["weights are of several types", { weights: [perTensor, perTensor, { ...perTensor, dtype: "uint8" }] }],
    ["every query has its own mask", { mask: (s) => s.input("mask", ["batch", 5, 5], "int32") }],
  ])("does not where %s", async (_, parts) => {
    const { counts } = await integerForm((s) => s.output(attention(s, parts)), { sizes: [{ batch: 2, sequence: 5 }] });
    expect(counts).toMatchObject({ MatMulIntegerToFloat: 3, MultiHeadAttention: 1 });
  });

  it("is not used if keys are projected from another tensor", async () => {
    const { counts } = await integerForm((s) => {
      const [a, b] = ["a", "b"].map((name) => quantized(s, s.input(name, ["batch", "sequence", HIDDEN]), signed));
      const [q, k, v] = [a, b, b].map((x) => s.op("MatMul", [x, integerWeight(s, [HIDDEN, HIDDEN], perTensor)]));
      s.output(s.op("MultiHeadAttention", [q, k, v], { num_heads: HEADS }, { domain: MICROSOFT }));
    });
    expect(counts).toMatchObject({ MatMulIntegerToFloat: 3, MultiHeadAttention: 1 });
  });
});
