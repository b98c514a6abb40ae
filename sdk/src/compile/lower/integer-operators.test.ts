import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { EDGE } from "../graph/operators.ts";
import { tensor } from "../graph/tensor.ts";
import { lowerAttention } from "./integer-operators.ts";
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
    { maxTokens: 8, vocabulary: VOCABULARY },
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
    lowering.push(node, { op: "lookup", table, scales, bits: 8, block: width, out: value });
  }
  return () => lowerAttention(lowering, node);
}

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
