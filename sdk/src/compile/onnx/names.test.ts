import { expect, it } from "vitest";
import { drawAttention, HIDDEN, paddedRows } from "#test/fixtures/draw-attention.ts";
import { attribute, declarationOf, modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import { largestOutputDifference, optimized, runModel } from "#test/oracles/run-model.ts";
import { toOrt } from "../evaluate/ort-session.ts";
import { sameDim } from "../graph/dim.ts";
import { tensor } from "../graph/tensor.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { fromOnnx } from "./from-onnx.ts";
import { toOnnx } from "./to-onnx.ts";

/** Tolerance, because fused operators sum in another order than the nodes they replace. */
const FLOAT32_ROUNDING = 1e-5;

it("does not treat sizes as equal because a name occurs twice in one shape", () => {
  const { inputs } = fromOnnx(modelOf({ input: [declarationOf("x", ["N", "N", "M"])] }));
  const [rows, columns, depth] = inputs[0]?.shape ?? [];
  expect(sameDim(rows, columns)).toBe(false);
  expect(String(depth)).toBe("M");
});

it("treats sizes with one name in two shapes as equal", () => {
  const { inputs } = fromOnnx(modelOf({ input: [declarationOf("x", ["N"]), declarationOf("y", ["N"])] }));
  expect(sameDim(inputs[0]?.shape?.[0], inputs[1]?.shape?.[0])).toBe(true);
});

/**
 * Draws attention with a padding mask, and an If whose sub-graphs read a value computed from the attention.
 *
 * @param inner name of a value in a sub-graph. The test uses names that rewrites choose for new values.
 */
function withBranch(inner: string) {
  const s = new Sketch();
  const x = s.input("x", ["batch", "sequence", HIDDEN]);
  const mask = s.op("Unsqueeze", [s.input("attention_mask", ["batch", "sequence"], "int64"), [1, 2]]);
  const bias = s.op("Mul", [s.op("Sub", [1, s.op("Cast", [mask], { to: CAST.float32 })]), -10_000]);
  const attended = drawAttention(s, x, { masked: (_, scores) => s.op("Add", [scores, bias]) });
  s.output(attended, "attended");
  const model = toOnnx(s.graph);
  const { input = [], node = [], initializer = [], output = [] } = model.graph ?? {};
  const branch = (name: string, opType: string, result: string) =>
    attribute.graph(name, { node: [nodeOf(`${result} = ${opType}(copy)`)], output: [declarationOf(result)] });
  return modelOf({
    input: [...input, declarationOf("condition", [], "bool")],
    node: [
      ...node,
      nodeOf("copy = Relu(attended)"),
      nodeOf("result = If(condition)", [branch("then_branch", "Neg", inner), branch("else_branch", "Abs", "kept")]),
    ],
    initializer,
    output: [...output, declarationOf("result")],
  });
}

const sizes = { batch: 3, sequence: 5 };
const values = Float32Array.from({ length: sizes.batch * sizes.sequence * HIDDEN }, (_, i) => Math.sin(i));
const feeds = {
  x: toOrt(tensor("float32", [sizes.batch, sizes.sequence, HIDDEN], values)),
  attention_mask: toOrt(tensor("int64", [sizes.batch, sizes.sequence], BigInt64Array.from(paddedRows(sizes), BigInt))),
  condition: toOrt(tensor("bool", [], Uint8Array.of(1))),
};

it("gives new nodes names that no sub-graph uses", async () => {
  const original = withBranch("inner");
  const { graph } = await optimized(original);
  expect([...graph.nodes].map(({ opType }) => opType)).toContain("Attention");
  const before = new Set(
    [...fromOnnx(original).constants(), ...[...fromOnnx(original).nodes].flatMap(({ outputs }) => outputs)].map(
      (value) => value?.name,
    ),
  );
  const values = [...graph.constants(), ...[...graph.nodes].flatMap(({ outputs }) => outputs)];
  const made = values.flatMap((value) => (value && !before.has(value.name) ? [value.name] : []));
  expect(made).toContain("attention_mask/int32");
  for (const inner of made) {
    const model = withBranch(inner);
    const [wanted = {}] = await runModel(encodeModel(model).finish(), [feeds]);
    const [found = {}] = await runModel((await optimized(model)).bytes, [feeds]);
    expect(largestOutputDifference(found, wanted), inner).toBeLessThan(FLOAT32_ROUNDING);
  }
});
