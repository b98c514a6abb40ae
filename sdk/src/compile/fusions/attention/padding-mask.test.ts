import { describe, expect, it } from "vitest";
import { drawAttention, HIDDEN, paddedRows } from "#test/fixtures/draw-attention.ts";
import { CAST, Sketch, type SketchOperand } from "#test/fixtures/sketch.ts";
import { rewritten } from "#test/oracles/rewritten.ts";
import type { Value } from "../../graph/node.ts";
import type { DataType } from "../../graph/tensor.ts";
import { inferShapes } from "../../shapes/infer-shapes.ts";
import { type MaskKind, paddingMask } from "./padding-mask.ts";

const LOWEST = -3.4028234663852886e38;

const cast = (s: Sketch, x: SketchOperand, to: keyof typeof CAST) => s.op("Cast", [x], { to: CAST[to] });
const unsqueezed = (s: Sketch, mask: Value) => s.op("Unsqueeze", [mask, [1, 2]]);
/** Converts the mask to floats [batch, 1, 1, sequence]. */
const floats = (s: Sketch, mask: Value) => cast(s, unsqueezed(s, mask), "float32");
const additive = (s: Sketch, mask: Value, fill: number) => s.op("Mul", [s.op("Sub", [1, mask]), fill]);
const sizeOf = (s: Sketch, mask: Value, axis: number) => s.op("Gather", [s.op("Shape", [mask]), s.index(axis)]);
const range = (s: Sketch, mask: Value) => s.op("Range", [s.index(0), sizeOf(s, mask, 1), s.index(1)]);
const queriesAndKeys = (s: Sketch, mask: Value) =>
  [s.op("Unsqueeze", [range(s, mask), [1]]), s.op("Unsqueeze", [range(s, mask), [0]])] as const;
const causal = (s: Sketch, mask: Value) => {
  const [i, j] = queriesAndKeys(s, mask);
  return s.op("LessOrEqual", [j, i]);
};
const window = (s: Sketch, mask: Value, size: number) => {
  const [i, j] = queriesAndKeys(s, mask);
  return s.op("LessOrEqual", [s.op("Abs", [s.op("Sub", [i, j])]), s.index(size)]);
};
/** Draws a mask that is 0 where a condition holds. Elsewhere, it is `fill`. */
const filled = (s: Sketch, condition: Value, fill = LOWEST) => s.op("Where", [condition, 0, fill]);
const square = (s: Sketch, mask: Value) =>
  s.op("Concat", [[1, 1], ...[1, 1].map((axis) => s.op("Unsqueeze", [sizeOf(s, mask, axis), [0]]))], { axis: 0 });
const isToken = (s: Sketch, mask: Value) => cast(s, unsqueezed(s, mask), "bool");

interface Case {
  readonly draw: (s: Sketch, mask: Value) => Value;
  readonly dtype?: DataType;
}

async function kindOf({ draw, dtype = "int64" }: Case): Promise<MaskKind> {
  const s = new Sketch();
  const value = draw(s, s.input("attention_mask", ["batch", "sequence"], dtype));
  s.output(value);
  inferShapes(s.graph);
  return paddingMask.answer(s.graph, value);
}

/** Fuses attention with the mask, and runs it on batches with all kinds of padding. */
const attended = ({ draw, dtype = "int64" }: Case, sequence = 8) =>
  rewritten(
    (s) => {
      const x = s.input("x", ["batch", "sequence", HIDDEN]);
      const mask = s.input("attention_mask", ["batch", "sequence"], dtype);
      s.output(drawAttention(s, x, { masked: (_, scores) => s.op("Add", [scores, draw(s, mask)]) }));
    },
    {
      sizes: [
        { batch: 3, sequence: 5 },
        { batch: 2, sequence },
      ],
      given: (sizes) => ({ attention_mask: paddedRows(sizes) }),
    },
  );

const accepted: [string, Case, number][] = [
  ["(1 − m) · −10000", { draw: (s, m) => additive(s, floats(s, m), -10_000) }, -10_000],
  ["(1 − m) · lowest", { draw: (s, m) => additive(s, floats(s, m), LOWEST) }, LOWEST],
  ["of float32", { draw: (s, m) => additive(s, unsqueezed(s, m), -10_000), dtype: "float32" }, -10_000],
  ["of int32", { draw: (s, m) => additive(s, floats(s, m), -10_000), dtype: "int32" }, -10_000],
  ["of bool", { draw: (s, m) => filled(s, unsqueezed(s, m)), dtype: "bool" }, LOWEST],
  ["Where", { draw: (s, m) => filled(s, isToken(s, m)) }, LOWEST],
  ["Where not", { draw: (s, m) => s.op("Where", [s.op("Not", [isToken(s, m)]), LOWEST, 0]) }, LOWEST],
  ["Where, −∞", { draw: (s, m) => filled(s, isToken(s, m), -Infinity) }, -Infinity],
  [
    "expanded to queries",
    { draw: (s, m) => additive(s, s.op("Expand", [floats(s, m), square(s, m)]), LOWEST) },
    LOWEST,
  ],
  [
    "read with GatherND",
    {
      draw: (s, m) => {
        const [i, j] = [s.op("Range", [s.index(0), sizeOf(s, m, 0), s.index(1)]), range(s, m)];
        const shape = s.op("Concat", [...[0, 1].map((axis) => s.op("Unsqueeze", [sizeOf(s, m, axis), [0]])), [1]], {
          axis: 0,
        });
        const [rows, columns] = [s.op("Unsqueeze", [i, [1, 2]]), s.op("Unsqueeze", [j, [0, 2]])].map((each) =>
          s.op("Expand", [each, shape]),
        );
        return filled(
          s,
          unsqueezed(s, cast(s, s.op("GatherND", [m, s.op("Concat", [rows, columns], { axis: -1 })]), "bool")),
        );
      },
    },
    LOWEST,
  ],
  [
    "combined with the condition that positions are at least 0",
    { draw: (s, m) => filled(s, s.op("And", [isToken(s, m), s.op("GreaterOrEqual", [range(s, m), s.index(0)])])) },
    LOWEST,
  ],
  ["with noise of 1e-9", { draw: (s, m) => s.op("Add", [additive(s, floats(s, m), -10_000), 1e-9]) }, -10_000],
];

describe("a padding mask", () => {
  it.each(accepted)("%s is recognized", async (_, mask, fill) => {
    expect(await kindOf(mask)).toMatchObject({ kind: "padding", fill, input: { name: "attention_mask" } });
  });

  it.each(accepted)("%s is replaced by the input of the graph", async (_, mask) => {
    const { counts } = await attended(mask);
    expect(counts).toEqual({ Attention: 1, ...(mask.dtype !== "int32" && { Cast: 1 }) });
  });

  it("that is a condition reports its value for attended keys", async () => {
    expect(await kindOf({ draw: isToken })).toMatchObject({ kind: "padding", attended: 1 });
    expect(await kindOf({ draw: (s, m) => s.op("Not", [isToken(s, m)]) })).toMatchObject({ attended: 0 });
  });

  it("without effect is recognized", async () => {
    expect(await kindOf({ draw: (s, m) => s.op("Mul", [floats(s, m), 0]) })).toEqual({ kind: "none" });
    expect(await kindOf({ draw: (s, m) => s.op("Expand", [0, square(s, m)]) })).toEqual({ kind: "none" });
  });
});

const refused: [string, Case, number?][] = [
  ["a causal mask", { draw: (s, m) => filled(s, causal(s, m)) }],
  ["a causal mask with padding", { draw: (s, m) => filled(s, s.op("And", [causal(s, m), isToken(s, m)])) }],
  ...[4, 64, 200].map((size): [string, Case, number] => [
    `an attention window of ${size} with padding`,
    { draw: (s, m) => filled(s, s.op("And", [window(s, m, size), isToken(s, m)])) },
    size + 5,
  ]),
  [
    "an attention window computed from several constants",
    {
      draw: (s, m) => {
        const [i, j] = queriesAndKeys(s, m);
        const blocks = s.op("Div", [s.op("Abs", [s.op("Sub", [i, j])]), s.index(8)]);
        return filled(s, s.op("And", [s.op("LessOrEqual", [blocks, s.index(8)]), isToken(s, m)]));
      },
    },
    90,
  ],
  [
    "an attention window computed in floats",
    {
      draw: (s, m) => {
        const [i, j] = queriesAndKeys(s, m).map((each) => cast(s, each, "float32"));
        const near = s.op("Less", [s.op("Abs", [s.op("Sub", [i, j])]), 40]);
        return filled(s, s.op("And", [near, isToken(s, m)]));
      },
    },
    60,
  ],
  [
    "a mask that also hides queries",
    {
      draw: (s, m) =>
        filled(s, s.op("And", [isToken(s, m), s.op("Transpose", [isToken(s, m)], { perm: [0, 1, 3, 2] })]), -10_000),
    },
  ],
  [
    "a mask that always hides the first key",
    { draw: (s, m) => filled(s, s.op("And", [isToken(s, m), s.op("Greater", [range(s, m), s.index(0)])])) },
  ],
  ["a mask whose fill value is too small", { draw: (s, m) => additive(s, floats(s, m), -1) }],
  ["an inverted mask", { draw: (s, m) => s.op("Mul", [floats(s, m), -10_000]) }],
  ["a scaled mask", { draw: (s, m) => s.op("Mul", [s.op("Sub", [2, floats(s, m)]), -10_000]) }],
];

describe("another mask", () => {
  it.each(refused)("%s is refused", async (_, mask) => {
    const kind = await kindOf(mask);
    expect(kind.kind).toBe("refused");
    expect("why" in kind && kind.why).toMatch(/\w/);
  });

  it.each(refused)("%s still computes the same", async (_, mask, sequence) => {
    const { graph } = await attended(mask, sequence);
    const fused = graph.sorted().find(({ opType }) => opType === "Attention");
    expect(fused?.inputs[3]).toBeUndefined();
    expect(fused?.inputs[5]).toBeDefined();
  });

  it.each<[string, (s: Sketch, table: Value, ids: Value) => Value]>([
    ["looked up", (s, table, ids) => s.op("Gather", [table, ids])],
    [
      "looked up row by row",
      (s, table, ids) => {
        const rows = s.op("Gather", [table, s.op("Reshape", [cast(s, ids, "int32"), [-1]])]);
        return s.op("Reshape", [rows, s.op("Concat", [s.op("Shape", [ids]), [HIDDEN]], { axis: 0 })]);
      },
    ],
  ])("that depends on token ids is refused if they are %s", async (_, embedded) => {
    const draw = (s: Sketch) => {
      const ids = s.input("input_ids", ["batch", "sequence"], "int64");
      const x = embedded(s, s.random([20, HIDDEN]), ids);
      const bias = filled(s, unsqueezed(s, s.op("Equal", [ids, s.index(1)])), -10_000);
      s.output(drawAttention(s, x, { masked: (_, scores) => s.op("Add", [scores, bias]) }));
    };
    const { graph } = await rewritten(draw, { below: { input_ids: 3 } });
    const fused = graph.sorted().find(({ opType }) => opType === "Attention");
    expect(fused?.inputs[3]).toBeUndefined();
    expect(fused?.inputs[5]).toBeDefined();
  });

  it("that depends on two inputs is refused", async () => {
    const kind = await kindOf({
      draw: (s, m) =>
        s.op("Add", [additive(s, floats(s, m), -10_000), s.input("bias", [1, 1, "sequence", "sequence"])]),
    });
    expect(kind).toMatchObject({
      kind: "refused",
      why: expect.stringMatching(/depends on more than one input: (attention_mask and bias|bias and attention_mask)/),
    });
  });

  it("with a constant that is too large to be probed is refused", async () => {
    const kind = await kindOf({ draw: (s, m) => filled(s, s.op("And", [window(s, m, 5000), isToken(s, m)])) });
    expect(kind).toMatchObject({ kind: "refused", why: expect.stringContaining("5000") });
  });
});
