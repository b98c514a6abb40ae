import { describe, expect, it } from "vitest";
import { Sketch, type SketchAttribute } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const HIDDEN = 8;
const shape = ["batch", "sequence", HIDDEN];
const normalized = (s: Sketch, x: Value, settings: Record<string, SketchAttribute> = {}) =>
  s.op("LayerNormalization", [x, s.random([HIDDEN], 1), s.random([HIDDEN])], settings);
const dense = (s: Sketch, x: Value) =>
  s.op("Add", [s.op("MatMul", [x, s.random([HIDDEN, HIDDEN])]), s.random([HIDDEN])]);

/** Returns the names of the fused node's inputs. */
const inputsOf = ({ graph }: Awaited<ReturnType<typeof rewritten>>) =>
  [...graph.nodes].find(({ opType }) => opType === "SkipLayerNormalization")?.inputs.map((value) => value?.name);

describe("the normalized sum of two tensors", () => {
  it("becomes one operator", async () => {
    const found = await rewritten((s) =>
      s.output(normalized(s, s.op("Add", [s.input("x", shape), s.input("skip", shape)]), { epsilon: { float: 1e-3 } })),
    );
    expect(found.counts).toEqual({ SkipLayerNormalization: 1 });
    expect([...found.graph.nodes][0]?.float("epsilon")).toBeCloseTo(1e-3);
    expect(inputsOf(found)).toHaveLength(4);
  });

  it.each([
    ["first", (a: Value, b: Value) => [a, b]],
    ["second", (a: Value, b: Value) => [b, a]],
  ])("includes the bias of a linear layer in its %s operand", async (_, order) => {
    const found = await rewritten((s) => {
      const x = s.input("x", shape);
      s.output(normalized(s, s.op("Add", order(dense(s, x), x))));
    });
    expect(found.counts).toEqual({ MatMul: 1, SkipLayerNormalization: 1 });
    expect(inputsOf(found)?.slice(0, 2)).toEqual(["MatMul", "x"]);
    expect(inputsOf(found)).toHaveLength(5);
  });

  it("does not include a bias if another node reads its sum", async () => {
    const found = await rewritten((s) => {
      const x = s.input("x", shape);
      const biased = dense(s, x);
      s.output(biased, "biased");
      s.output(normalized(s, s.op("Add", [biased, x])));
    });
    expect(found.counts).toEqual({ MatMul: 1, Add: 1, SkipLayerNormalization: 1 });
  });

  it.each([
    ["a node", (s: Sketch, sum: Value) => s.output(s.op("Tanh", [sum]), "also"), { Tanh: 1 }],
    ["an output of the graph", (s: Sketch, sum: Value) => s.output(sum, "also"), {}],
  ])("also outputs the sum if it is read by %s", async (_, read, others) => {
    const { counts, graph } = await rewritten((s) => {
      const sum = s.op("Add", [s.input("x", shape), s.input("skip", shape)]);
      s.output(normalized(s, sum));
      read(s, sum);
    });
    expect(counts).toEqual({ SkipLayerNormalization: 1, ...others });
    expect(graph.sorted()[0]?.outputs).toHaveLength(4);
  });

  it("is recognized without beta, and with two axes", async () => {
    const { counts } = await rewritten((s) => {
      const [x, skip] = [s.input("x", ["batch", HIDDEN]), s.input("skip", ["batch", HIDDEN])];
      s.output(s.op("LayerNormalization", [s.op("Add", [x, skip]), s.random([HIDDEN], 1)]));
    });
    expect(counts).toEqual({ SkipLayerNormalization: 1 });
  });

  it.each<[string, (s: Sketch, x: Value) => Value, string]>([
    [
      "an operand that is broadcast",
      (s, x) => normalized(s, s.op("Add", [x, s.input("row", [1, "sequence", HIDDEN])])),
      "their shapes differ",
    ],
    ["a constant operand", (s, x) => normalized(s, s.op("Add", [x, s.random([1, 1, HIDDEN])])), "their shapes differ"],
    [
      "four dimensions",
      (s) => normalized(s, s.op("Add", [s.input("a", [2, ...shape]), s.input("b", [2, ...shape])])),
      "does not have two or three axes",
    ],
    [
      "gamma for each text",
      (s, x) =>
        s.op("LayerNormalization", [s.op("Add", [x, s.input("y", shape)]), s.input("gain", ["batch", 1, HIDDEN])]),
      "not a vector as long as the last axis",
    ],
  ])("is not fused with %s", async (_, draw, reason) => {
    const { counts, why } = await rewritten((s) => s.output(draw(s, s.input("x", shape))));
    expect(counts).toEqual({ Add: 1, LayerNormalization: 1 });
    expect(why("SkipLayerNormalization").join()).toContain(reason);
  });

  it("is not fused over two axes", async () => {
    const { counts, why } = await rewritten((s) => {
      const sum = s.op("Add", [s.input("x", ["batch", 3, HIDDEN]), s.input("y", ["batch", 3, HIDDEN])]);
      s.output(s.op("LayerNormalization", [sum, s.random([3, HIDDEN])], { axis: 1 }));
    });
    expect(counts).toEqual({ Add: 1, LayerNormalization: 1 });
    expect(why("SkipLayerNormalization").join()).toContain("the last axis only");
  });

  it.each([
    ["a node reads", (s: Sketch, mean: Value) => s.output(s.op("Tanh", [mean]), "mean")],
    ["the graph returns", (s: Sketch, mean: Value) => s.output(mean, "mean")],
  ])("is not fused if %s the mean", async (_, read) => {
    const { counts } = await rewritten((s) => {
      const sum = s.op("Add", [s.input("x", shape), s.input("skip", shape)]);
      const norm = s.node("LayerNormalization", [sum, s.random([HIDDEN], 1)], {}, { outputs: ["y", "mean"] });
      s.output(norm.output);
      read(s, norm.outputs[1] as Value);
    });
    expect(counts).toMatchObject({ Add: 1, LayerNormalization: 1 });
  });
});

describe("a sketch", () => {
  it("draws the same constants every time", () => {
    expect(new Sketch().random([3]).constant).toEqual(new Sketch().random([3]).constant);
  });
});
