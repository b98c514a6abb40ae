import { describe, expect, it } from "vitest";
import { CAST, type Sketch } from "#test/fixtures/sketch.ts";
import { type Options, only, rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import { type DataType, type Tensor, tensor } from "../../graph/tensor.ts";
import { embedLayerNormalizationFusion } from "./embed-layer-normalization.ts";

const HIDDEN = 4;
const VOCABULARY_SIZE = 30;
const POSITIONS = 16;

const ids = (s: Sketch, name: string) => s.input(name, ["batch", "sequence"], "int64");
const lookup = (s: Sketch, rows: number, at: Value) => s.op("Gather", [s.random([rows, HIDDEN]), at]);
const sizeOf = (s: Sketch, x: Value, axis: number) => s.op("Gather", [s.op("Shape", [x]), s.index(axis)]);
const range = (s: Sketch, tokens: Value, first = 0) => {
  const length = sizeOf(s, tokens, 1);
  return s.op("Unsqueeze", [s.op("Range", [s.index(first), s.op("Add", [length, s.index(first)]), s.index(1)]), [0]]);
};
const normalized = (s: Sketch, x: Value) =>
  s.op("LayerNormalization", [x, s.random([HIDDEN], 1), s.random([HIDDEN])], { epsilon: { float: 1e-3 } });

/**
 * Draws the normalized sum of token embeddings and other terms, and fuses it.
 *
 * @param terms returns the embeddings that are added to the token embeddings
 */
const fuse = (terms: (s: Sketch, tokens: Value) => readonly Value[], optimize?: Options["optimize"]) =>
  rewritten(
    (s) => {
      const tokens = ids(s, "input_ids");
      const sum = terms(s, tokens).reduce((a, b) => s.op("Add", [a, b]), lookup(s, VOCABULARY_SIZE, tokens));
      s.output(normalized(s, sum));
    },
    { below: { input_ids: VOCABULARY_SIZE, position_ids: POSITIONS }, ...(optimize && { optimize }) },
  );

const typed = (s: Sketch) => lookup(s, 2, ids(s, "token_type_ids"));
const positioned = (s: Sketch, tokens: Value, first = 0) => lookup(s, POSITIONS, range(s, tokens, first));
const nodeOf = ({ graph }: Awaited<ReturnType<typeof fuse>>) =>
  graph.sorted().find(({ opType }) => opType === "EmbedLayerNormalization");

describe("normalized embeddings", () => {
  it("keep two tables with the same computed ids", async () => {
    const found = await fuse((s, tokens) => {
      const places = s.op("Mod", [tokens, s.index(POSITIONS)]);
      return [lookup(s, POSITIONS, places), lookup(s, POSITIONS, places)];
    });
    expect(nodeOf(found)?.inputs[4]?.shape).toEqual([POSITIONS, HIDDEN]);
  });

  it.each<[string, Parameters<typeof fuse>[0], number, boolean]>([
    ["tokens, types and positions", (s, tokens) => [typed(s), positioned(s, tokens)], POSITIONS, true],
    ["tokens, positions and types", (s, tokens) => [positioned(s, tokens), typed(s)], POSITIONS, true],
    ["tokens and positions", (s, tokens) => [positioned(s, tokens)], POSITIONS, false],
    ["positions that start at 2", (s, tokens) => [positioned(s, tokens, 2), typed(s)], POSITIONS - 2, true],
    [
      "positions sliced from their table",
      (s, tokens) => [
        s.op("Slice", [s.random([POSITIONS, HIDDEN]), [0], s.op("Unsqueeze", [sizeOf(s, tokens, 1), [0]]), [0]]),
      ],
      POSITIONS,
      false,
    ],
    [
      "positions sliced from a range",
      (s, tokens) => {
        const all = s.floats(
          [1, POSITIONS],
          Array.from({ length: POSITIONS }, (_, i) => i),
        );
        const end = s.op("Unsqueeze", [sizeOf(s, tokens, 1), [0]]);
        return [lookup(s, POSITIONS, s.op("Slice", [s.op("Cast", [all], { to: CAST.int64 }), [0], end, [1]]))];
      },
      POSITIONS,
      false,
    ],
    [
      "types that are all 0",
      (s, tokens) => [lookup(s, 2, s.op("Expand", [s.index(0), s.op("Shape", [tokens])])), positioned(s, tokens)],
      POSITIONS,
      false,
    ],
    [
      "tokens, positions and a vector",
      (s, tokens) => [positioned(s, tokens), s.random([1, 1, HIDDEN])],
      POSITIONS,
      false,
    ],
  ])("of %s become one operator", async (_, terms, rows, hasTypes) => {
    const found = await fuse(terms);
    expect(found.counts).toEqual({ EmbedLayerNormalization: 1, Cast: hasTypes ? 2 : 1 });
    const node = nodeOf(found);
    expect(node?.inputs[2]?.shape).toEqual([VOCABULARY_SIZE, HIDDEN]);
    expect(node?.inputs[3]?.shape).toEqual([rows, HIDDEN]);
    expect(node?.inputs[4] !== undefined).toBe(hasTypes);
    expect(node?.float("epsilon")).toBeCloseTo(1e-3);
  });

  it.each<[string, (s: Sketch, tokens: Value) => Value]>([
    [
      "computed from the token ids, as in RoBERTa",
      (s, tokens) => {
        const isToken = s.op("Cast", [s.op("Not", [s.op("Equal", [tokens, s.index(1)])])], { to: CAST.int64 });
        const counted = s.op("Mul", [s.op("CumSum", [isToken, s.index(1)]), isToken]);
        return lookup(s, POSITIONS, s.op("Add", [counted, s.index(1)]));
      },
    ],
    ["given by the caller", (s) => lookup(s, POSITIONS, ids(s, "position_ids"))],
    [
      "counted from the end",
      (s, tokens) => lookup(s, POSITIONS, s.op("Sub", [s.index(POSITIONS - 1), range(s, tokens)])),
    ],
  ])("have positions %s", async (_, positions) => {
    const found = await fuse((s, tokens) => [typed(s), positions(s, tokens)]);
    expect(found.counts["EmbedLayerNormalization"]).toBe(1);
    expect(nodeOf(found)?.inputs).toHaveLength(9);
  });

  it("have constant positions if the length is fixed", async () => {
    const found = await rewritten(
      (s) => {
        const tokens = s.input("input_ids", ["batch", 6], "int64");
        s.output(normalized(s, s.op("Add", [lookup(s, VOCABULARY_SIZE, tokens), s.random([1, 6, HIDDEN])])));
      },
      { below: { input_ids: VOCABULARY_SIZE } },
    );
    expect(nodeOf(found)?.inputs[3]?.shape).toEqual([6, HIDDEN]);
  });
});

describe("normalized embeddings with indices of other types", () => {
  const input = (s: Sketch, name: string, dtype: DataType) => s.input(name, ["batch", "sequence"], dtype);
  const cast = (s: Sketch, x: Value, to: keyof typeof CAST) => s.op("Cast", [x], { to: CAST[to] });
  /** Draws an input of floats that are not negative. */
  const floats = (s: Sketch, name: string) => s.op("Abs", [input(s, name, "float32")]);
  const filled = (s: Sketch, tokens: Value, value: Tensor) =>
    s.op("ConstantOfShape", [s.op("Shape", [tokens])], { value: { tensor: value } });
  /** Draws positions 0, 1, … that are computed in a type. */
  const counted = (s: Sketch, tokens: Value, dtype: "int32" | "float32") => {
    const [zero, one] = [0, 1].map((number) => cast(s, s.index(number), dtype)) as [Value, Value];
    return s.op("Unsqueeze", [s.op("Range", [zero, cast(s, sizeOf(s, tokens, 1), dtype), one]), [0]]);
  };

  it.each<[string, (s: Sketch) => Value]>([
    ["int32", (s) => input(s, "token_type_ids", "int32")],
    ["int32, cast to int64", (s) => cast(s, input(s, "token_type_ids", "int32"), "int64")],
    ["float32, cast to int64", (s) => cast(s, floats(s, "token_type_ids"), "int64")],
    ["bool, cast to int32", (s) => cast(s, input(s, "token_type_ids", "bool"), "int32")],
    ["int64, cast to int32 and back", (s) => cast(s, cast(s, ids(s, "token_type_ids"), "int32"), "int64")],
  ])("become one operator: types of %s", async (_, types) => {
    const found = await fuse((s, tokens) => [lookup(s, 2, types(s)), positioned(s, tokens)]);
    expect(found.counts["EmbedLayerNormalization"]).toBe(1);
    expect(nodeOf(found)?.inputs[1]?.dtype).toBe("int32");
  });

  it.each<[string, (s: Sketch, tokens: Value) => Value]>([
    ["zeros of int32", (s, tokens) => filled(s, tokens, tensor("int32", [1], Int32Array.of(0)))],
    [
      "zeros of float32, cast",
      (s, tokens) => cast(s, filled(s, tokens, tensor("float32", [1], Float32Array.of(0))), "int64"),
    ],
  ])("become one operator without types: %s", async (_, types) => {
    const found = await fuse((s, tokens) => [lookup(s, 2, types(s, tokens)), positioned(s, tokens)]);
    expect(found.counts).toEqual({ EmbedLayerNormalization: 1, Cast: 1 });
    expect(nodeOf(found)?.inputs[1]).toBeUndefined();
  });

  it.each<[string, (s: Sketch, tokens: Value) => Value, number]>([
    ["a range of int32", (s, tokens) => counted(s, tokens, "int32"), 7],
    ["a range of float32, cast", (s, tokens) => cast(s, counted(s, tokens, "float32"), "int64"), 7],
    [
      "a sum of ones as float32",
      (s, tokens) => {
        const sums = s.op("CumSum", [filled(s, tokens, tensor("float32", [1], Float32Array.of(1))), s.index(1)]);
        return cast(s, s.op("Sub", [sums, 1]), "int64");
      },
      7,
    ],
    ["int32 of the caller", (s) => input(s, "position_ids", "int32"), 9],
    ["float32 of the caller, cast", (s) => cast(s, floats(s, "position_ids"), "int64"), 9],
    ["a sum of the mask", (s) => s.op("CumSum", [input(s, "attention_mask", "int32"), s.index(1)]), 9],
    [
      "a sum of the mask as float32, cast",
      (s) => cast(s, s.op("CumSum", [floats(s, "attention_mask"), s.index(1)]), "int64"),
      9,
    ],
  ])("become one operator: positions from %s", async (_, positions, inputs) => {
    const found = await fuse((s, tokens) => [typed(s), lookup(s, POSITIONS, positions(s, tokens))]);
    expect(nodeOf(found)?.inputs).toHaveLength(inputs);
  });

  it("become one operator: tokens of float32, cast", async () => {
    const found = await rewritten((s) => {
      const tokens = cast(s, floats(s, "input_ids"), "int32");
      s.output(normalized(s, s.op("Add", [lookup(s, VOCABULARY_SIZE, tokens), positioned(s, tokens)])));
    });
    expect(found.counts["EmbedLayerNormalization"]).toBe(1);
  });
});

describe("normalized embeddings are not fused", () => {
  it.each<[string, Parameters<typeof fuse>[0], string]>([
    ["without positions", (s) => [typed(s)], "there is no position table"],
    ["of tokens only", () => [], "there is no position table"],
    [
      "with positions for each text",
      (s, tokens) => [typed(s), s.op("Tanh", [positioned(s, tokens)]), s.input("x", ["batch", "sequence", HIDDEN])],
      "is not a token, position or type embedding",
    ],
    [
      "with positions that are −1 for hidden tokens, the last row of the table",
      (s) => {
        const sums = s.op("CumSum", [ids(s, "attention_mask"), s.index(1)]);
        return [typed(s), lookup(s, POSITIONS, s.op("Sub", [sums, s.index(1)]))];
      },
      "can be negative",
    ],
    [
      "with a fourth table",
      (s, tokens) => [typed(s), positioned(s, tokens), lookup(s, 2, ids(s, "more"))],
      "more tables than",
    ],
  ])("%s", async (_, terms, reason) => {
    const { counts, why } = await fuse(terms, only(embedLayerNormalizationFusion));
    expect(counts["EmbedLayerNormalization"]).toBeUndefined();
    expect(why("EmbedLayerNormalization").join()).toContain(reason);
  });

  it("if another node reads the sum", async () => {
    const { counts, why } = await fuse((s, tokens) => {
      const positions = positioned(s, tokens);
      s.output(s.op("Tanh", [positions]), "positions");
      return [positions];
    });
    expect(counts["EmbedLayerNormalization"]).toBe(1);
    expect(why("EmbedLayerNormalization")).toEqual([]);
    const other = await rewritten(
      (s) => {
        const tokens = ids(s, "input_ids");
        const sum = s.op("Add", [lookup(s, VOCABULARY_SIZE, tokens), positioned(s, tokens)]);
        s.output(sum, "embeddings");
        s.output(normalized(s, sum));
      },
      { below: { input_ids: VOCABULARY_SIZE } },
    );
    expect(other.counts["EmbedLayerNormalization"]).toBeUndefined();
    expect(other.why("EmbedLayerNormalization").join()).toContain("is also read by other nodes");
  });

  it("if the normalization is over two axes", async () => {
    const { counts, why } = await rewritten(
      (s) => {
        const tokens = s.input("input_ids", ["batch", 3], "int64");
        const sum = s.op("Add", [lookup(s, VOCABULARY_SIZE, tokens), s.random([1, 3, HIDDEN])]);
        s.output(s.op("LayerNormalization", [sum, s.random([3, HIDDEN], 1), s.random([3, HIDDEN])], { axis: 1 }));
      },
      { below: { input_ids: VOCABULARY_SIZE } },
    );
    expect(counts["EmbedLayerNormalization"]).toBeUndefined();
    expect(why("EmbedLayerNormalization").join()).toContain("the last axis");
  });
});
