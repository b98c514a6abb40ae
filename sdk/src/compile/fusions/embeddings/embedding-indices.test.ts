import { describe, expect, it } from "vitest";
import type { Sketch } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";

const HIDDEN = 4;
const VOCABULARY_SIZE = 30;
const ROWS = 128;
/** One sequence length below and one above the constants in the tests. Both are shorter than the table. */
const SIZES = [
  { batch: 2, sequence: 31 },
  { batch: 2, sequence: 80 },
];

const lookup = (s: Sketch, rows: number, at: Value) => s.op("Gather", [s.random([rows, HIDDEN]), at]);
const range = (s: Sketch, tokens: Value) => {
  const length = s.op("Gather", [s.op("Shape", [tokens]), s.index(1)]);
  return s.op("Unsqueeze", [s.op("Range", [s.index(0), length, s.index(1)]), [0]]);
};

type Terms = (s: Sketch, positions: Value) => readonly Value[];

async function embedded(terms: Terms, sizes = SIZES) {
  const { graph, counts, why } = await rewritten(
    (s) => {
      const tokens = s.input("input_ids", ["batch", "sequence"], "int64");
      const sum = terms(s, range(s, tokens)).reduce((a, b) => s.op("Add", [a, b]), lookup(s, VOCABULARY_SIZE, tokens));
      s.output(s.op("LayerNormalization", [sum, s.random([HIDDEN], 1), s.random([HIDDEN])]));
    },
    { below: { input_ids: VOCABULARY_SIZE }, sizes },
  );
  const node = [...graph.nodes].find(({ opType }) => opType === "EmbedLayerNormalization");
  return { node, counts, why: why("EmbedLayerNormalization").join() };
}

describe("indices that start like positions", () => {
  it.each<[string, Terms]>([
    ["stop at 63", (s, at) => [lookup(s, ROWS, s.op("Min", [at, s.index(63)]))]],
    ["restart after 50", (s, at) => [lookup(s, ROWS, s.op("Mod", [at, s.index(50)]))]],
  ])("are not positions if they %s", async (_, terms) => {
    const { node } = await embedded(terms);
    // If the graph has a fused operator, the operator must read the indices as position ids (input 8).
    expect(node === undefined || node.inputs[8] !== undefined).toBe(true);
  });

  it("are not a single row if they grow by 1 every 32 positions", async () => {
    const { node, counts } = await embedded((s, at) => [
      lookup(s, ROWS, at),
      lookup(s, 4, s.op("Div", [at, s.index(32)])),
    ]);
    expect(node).toBeUndefined();
    expect(counts["Gather"]).toBeGreaterThanOrEqual(3);
  });

  it("are positions if they grow without limit", async () => {
    const { node } = await embedded((s, at) => [lookup(s, ROWS, at)]);
    expect(node?.inputs[3]?.shape).toEqual([ROWS, HIDDEN]);
    expect(node?.inputs[8]).toBeUndefined();
  });
});

describe("positions outside their table", () => {
  it("are not fused if they start before its first row", async () => {
    const { node, why } = await embedded((s, at) => [lookup(s, ROWS, s.op("Sub", [at, s.index(2)]))]);
    expect(node).toBeUndefined();
    expect(why).toContain("is not a token, position or type embedding");
  });

  it("are not fused if they start after its last row, where every run fails", async () => {
    const { node, why } = await embedded((s, at) => [lookup(s, ROWS, s.op("Add", [at, s.index(200)]))], []);
    expect(node).toBeUndefined();
    expect(why).toContain("is not a token, position or type embedding");
  });
});

describe("embeddings normalized over two axes", () => {
  it("are not fused if gamma covers only the last one", async () => {
    const { counts, why } = await rewritten(
      (s) => {
        const tokens = s.input("input_ids", ["batch", 3], "int64");
        const sum = s.op("Add", [lookup(s, VOCABULARY_SIZE, tokens), s.random([1, 3, HIDDEN])]);
        s.output(s.op("LayerNormalization", [sum, s.random([HIDDEN], 1), s.random([HIDDEN])], { axis: 1 }));
      },
      { below: { input_ids: VOCABULARY_SIZE } },
    );
    expect(counts["EmbedLayerNormalization"]).toBeUndefined();
    expect(why("EmbedLayerNormalization").join()).toContain("the last axis");
  });
});
