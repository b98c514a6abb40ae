import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { MICROSOFT } from "../graph/node.ts";
import { EDGE } from "../graph/operators.ts";
import { tensor } from "../graph/tensor.ts";
import { lowerAttention, lowerLookup } from "./integer-operators.ts";
import { LoweringContext } from "./lowering-context.ts";

const VOCABULARY = 4;

/**
 * Returns a function that lowers an attention node. Its queries, keys and values are the first `size` columns of engine
 * values with the given `widths`.
 */
function lowered(size: number, widths: readonly [number, number, number]): () => void {
  const sketch = new Sketch();
  const lowering = new LoweringContext(
    { first: { tables: new Map(), paddings: new Map() } },
    { maxTokens: 8, vocabulary: VOCABULARY, expands: "once" },
  );
  const inputs = widths.map(() => sketch.input("x", [1, "n", size]));
  const node = sketch.node("DynamicQuantizeAttention", inputs, { num_heads: 1 }, { domain: EDGE });
  const scales = lowering.floats("scales", new Float32Array(VOCABULARY));
  for (const [i, width] of widths.entries()) {
    const value = lowering.add({ width, of: "token", type: "f32" });
    lowering.define(inputs[i], { value, column: 0, width: size });
    const table = lowering.tensor(
      `table.${i}`,
      tensor("uint8", [VOCABULARY, width], new Uint8Array(VOCABULARY * width)),
    );
    lowering.push(node, { op: "lookup", table, scales, bits: 8, out: value });
  }
  return () => lowerAttention(lowering, node);
}

describe("a lookup in a table of onnxruntime's format", () => {
  it.each<[string, object, string]>([
    ["8 bits and a scale per row", { bits: 8, block_size: 32 }, "accepted"],
    ["8 bits and two scales per row", { bits: 8, block_size: 16 }, "engine_unsupported"],
    ["4 bits", { bits: 4, block_size: 32 }, "engine_unsupported"],
    ["the default of 4 bits", { block_size: 32 }, "engine_unsupported"],
  ])("with %s", (_, settings, outcome) => {
    const sketch = new Sketch();
    const sizes = { maxTokens: 8, vocabulary: VOCABULARY, expands: "once" } as const;
    const lowering = new LoweringContext({ first: { tables: new Map(), paddings: new Map() } }, sizes);
    const rows = sketch.constant(tensor("uint8", [VOCABULARY, 32], new Uint8Array(32 * VOCABULARY)));
    const inputs = [rows, sketch.input("ids", [1, "n"], "int64"), sketch.random([VOCABULARY, 2])];
    const node = sketch.node("GatherBlockQuantized", inputs, { ...settings }, { domain: MICROSOFT });
    expect(refusal(() => lowerLookup(lowering, node))).toBe(outcome);
  });
});

describe("attention", () => {
  it.each<[string, number, [number, number, number], string]>([
    ["heads of 256", 256, [256, 256, 256], "accepted"],
    ["heads larger than 256", 260, [260, 260, 260], "engine_unsupported"],
    ["a head size that is not a multiple of 4", 6, [24, 24, 24], "engine_unsupported"],
    ["columns of values with equal widths", 8, [24, 24, 24], "accepted"],
    ["columns of values with different widths", 8, [8, 16, 16], "engine_unsupported"],
  ])("with %s", (_, size, widths, outcome) => {
    expect(refusal(lowered(size, widths))).toBe(outcome);
  });
});
