import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { Node, Value } from "#sdk/compile/graph/node.ts";
import { numbersOf, type Tensor } from "#sdk/compile/graph/tensor.ts";
import { verifyGraph } from "#sdk/compile/graph/verify-graph.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { integerMatMuls } from "#sdk/compile/quantize/qdq/integer-matmuls.ts";
import { readExportCase, toTensors } from "../fixtures/export-case.ts";
import { describeShared } from "../fixtures/shared.ts";
import { countOperators } from "../oracles/rewritten.ts";
import { largestOutputDifference, rewritings, runModel } from "../oracles/run-model.ts";

/**
 * Outputs are normalized states of a few units; float32 sums in another order make 1.4e-6 of them at most, in all cases. A
 * step of an activation that is rounded the other way makes 7e-3 (onnxruntime itself does so once, with its optimization on
 * qat-bert-pt-eager-l17 as exported); none is.
 */
const TOLERANCE = 1e-5;

/** Products of two layers, six each, by what they have become. */
const forms: readonly (readonly [cases: RegExp, counts: Readonly<Record<string, number>>])[] = [
  [/^q-bert-dynamic/, { QAttention: 2, DynamicQuantizeLinear: 2, DynamicQuantizeMatMul: 6 }],
  // Scores, and their products with values, are of two computed tensors.
  [/^q-.*-qdq/, { QLinearMatMul: 12, MatMul: 4 }],
  [/^q-bert-qop/, { QLinearMatMul: 16 }],
  [/^qat/, { QAttention: 2, MatMulIntegerToFloat: 6 }],
];
const products = /^(QAttention|DynamicQuantizeLinear|DynamicQuantizeMatMul|QLinearMatMul|MatMul\w*|Gemm)$/;

describeShared("corpus", "a model that was quantized elsewhere", (folder) => {
  const cases = existsSync(folder) ? readdirSync(folder).filter((name) => /^(q|qat)-/.test(name)) : [];

  it("comes in 13 cases", () => {
    expect(cases).toHaveLength(13);
  });

  it.each(cases)("%s runs in integers, and computes the same", async (name) => {
    const stored = readExportCase(join(folder, name));
    const graph = fromOnnx(await readOnnx(join(folder, name, "model.onnx")));
    const original = weightsOf(graph);
    await fuseGraph(graph);
    const result = await integerMatMuls(graph);
    verifyGraph(result);

    const counts = Object.entries(countOperators(result)).filter(([opType]) => products.test(opType));
    expect(Object.fromEntries(counts)).toEqual(forms.find(([names]) => names.test(name))?.[1]);

    // Twelve matrices: those of the file, no byte changed, whichever way round they are kept.
    const kept = [...result.nodes].flatMap(keptWeights);
    expect(kept).toHaveLength(12);
    expect(kept.map(fingerprint).sort()).toEqual(original.map(fingerprint).sort());

    const wanted = stored.outputs.map(toTensors);
    for (const rewriting of rewritings) {
      const found = await runModel(encodeOnnx(result), stored.inputs.map(toTensors), rewriting);
      for (const [i, outputs] of wanted.entries()) {
        const difference = largestOutputDifference(found[i] ?? {}, outputs);
        expect(difference, `input set ${i}, onnxruntime's own optimization: ${rewriting}`).toBeLessThan(TOLERANCE);
      }
    }
  });
});

interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly at: (row: number, column: number) => number;
}

/** The same for a matrix and its transpose. */
function fingerprint({ rows, columns, at }: Matrix): string {
  const list = (n: number, m: number, get: (i: number, j: number) => number) =>
    `${n}×${m}: ${Array.from({ length: n * m }, (_, i) => get(Math.floor(i / m), i % m))}`;
  return [list(rows, columns, at), list(columns, rows, (i, j) => at(j, i))].sort().join("; ");
}

const matrix = ({ shape: [rows = 0, columns = 0] }: Tensor, numbers: readonly number[]): Matrix => ({
  rows,
  columns,
  at: (row, column) => numbers[row * columns + column] as number,
});

/** The integer weights of products in a file, or those that its float weights are quantized to. */
function weightsOf(graph: Graph): Matrix[] {
  const isWeight = ({ constant, users }: Value, types: readonly string[]) =>
    constant?.shape.length === 2 && types.includes(constant.dtype) && ![...users].some((user) => user.is("Gather"));
  const integers = [...graph.constants()].filter((value) => isWeight(value, ["int8", "uint8"]));
  const floats = [...graph.nodes].filter(
    (node) => node.is("QuantizeLinear") && node.inputs[0] && isWeight(original(node.inputs[0]), ["float32"]),
  );
  return [
    ...integers.map(({ constant }) => matrix(constant as Tensor, numbersOf(constant as Tensor))),
    ...floats.map(quantizedByDefinition),
  ];
}

/** Exporters put operators between constants and what reads them. */
const original = (value: Value): Value =>
  value.producer?.is("Identity") && value.producer.inputs[0] ? original(value.producer.inputs[0]) : value;

/** saturate(round(w / scale) + zero), halves to even: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html */
function quantizedByDefinition(node: Node): Matrix {
  const [weight, scale, zero] = node.inputs.map((input) => numbersOf(constantOf(input as Value)));
  const tensor = constantOf(node.inputs[0] as Value);
  const [, columns = 0] = tensor.shape;
  const channel = (i: number) =>
    scale?.length === 1 ? 0 : node.int("axis") === 0 ? Math.floor(i / columns) : i % columns;
  return matrix(
    tensor,
    (weight ?? []).map((number, i) => {
      const steps = halfToEven(Math.fround(number / (scale?.[channel(i)] ?? 1))) + (zero?.[channel(i)] ?? 0);
      return Math.min(127, Math.max(-128, steps));
    }),
  );
}

function constantOf(value: Value): Tensor {
  const found = original(value);
  const attribute = found.producer?.attributes["value"];
  const constant = found.constant ?? (attribute?.kind === "tensor" ? attribute.value : undefined);
  if (!constant) throw new Error(`${value.name} is no constant`);
  return constant;
}

const halfToEven = (value: number) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** The weights of one product, or of the three of an attention. */
function keptWeights(node: Node): Matrix[] {
  const weight = node.inputs[node.opType === "QLinearMatMul" ? 3 : 1]?.constant;
  if (!weight || !products.test(node.opType)) return [];
  const whole = matrix(weight, numbersOf(weight));
  const count = node.opType === "QAttention" ? 3 : 1;
  const columns = whole.columns / count;
  return Array.from({ length: count }, (_, part) => ({
    rows: whole.rows,
    columns,
    at: (row, column) => whole.at(row, part * columns + column),
  }));
}
