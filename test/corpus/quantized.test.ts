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
 * Outputs are normalized hidden states of a few units. Another order of summation changes them by 1.4e-6 at most. If
 * one quantized activation rounds the other way, outputs change by 7e-3, and the test fails. (onnxruntime's own
 * optimization of qat-bert-pt-eager-l17 has such a rounding.)
 */
const TOLERANCE = 1e-5;

/** Expected integer operators for the MatMuls of two layers. Each layer has six MatMuls with constant weights. */
const forms: readonly (readonly [cases: RegExp, counts: Readonly<Record<string, number>>])[] = [
  [/^q-bert-dynamic/, { QAttention: 2, DynamicQuantizeLinear: 2, DynamicQuantizeMatMul: 6 }],
  // The attention of each layer has two more MatMuls, without a constant operand. They stay in float32.
  [/^q-.*-qdq/, { QLinearMatMul: 12, MatMul: 4 }],
  [/^q-bert-qop/, { QLinearMatMul: 16 }],
  [/^qat/, { QAttention: 2, MatMulIntegerToFloat: 6 }],
];
const matMuls = /^(QAttention|DynamicQuantizeLinear|DynamicQuantizeMatMul|QLinearMatMul|MatMul\w*|Gemm)$/;

describeShared("corpus", "a model that was quantized elsewhere", (folder) => {
  const cases = existsSync(folder) ? readdirSync(folder).filter((name) => /^(q|qat)-/.test(name)) : [];

  it("is one of 13 cases", () => {
    expect(cases).toHaveLength(13);
  });

  it.each(cases)("%s runs in integers, and computes the same", async (name) => {
    const stored = readExportCase(join(folder, name));
    const graph = fromOnnx(await readOnnx(join(folder, name, "model.onnx")));
    const original = weightsOf(graph);
    await fuseGraph(graph);
    const result = await integerMatMuls(graph);
    verifyGraph(result);

    const counts = Object.entries(countOperators(result)).filter(([opType]) => matMuls.test(opType));
    expect(Object.fromEntries(counts)).toEqual(forms.find(([names]) => names.test(name))?.[1]);

    // The result still has the twelve weight matrices of the file, byte for byte. They may be transposed.
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

/** Returns the same string for a matrix and its transpose. */
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

/** Returns the weight matrices of a graph as integers. Quantizes the float matrices that QuantizeLinear nodes read. */
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

/** Skips Identity nodes, which exporters put between constants and their readers. */
const original = (value: Value): Value =>
  value.producer?.is("Identity") && value.producer.inputs[0] ? original(value.producer.inputs[0]) : value;

/**
 * Computes the result of a QuantizeLinear node: `saturate(round(w / scale) + zero)`. `round` rounds halves to even:
 * https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
 */
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
  if (!constant) throw new Error(`${value.name} is not constant.`);
  return constant;
}

const halfToEven = (value: number) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** Returns the weight matrix of a MatMul, or the three weight matrices of an attention. */
function keptWeights(node: Node): Matrix[] {
  const weight = node.inputs[node.opType === "QLinearMatMul" ? 3 : 1]?.constant;
  if (!weight || !matMuls.test(node.opType)) return [];
  const whole = matrix(weight, numbersOf(weight));
  const count = node.opType === "QAttention" ? 3 : 1;
  const columns = whole.columns / count;
  return Array.from({ length: count }, (_, part) => ({
    rows: whole.rows,
    columns,
    at: (row, column) => whole.at(row, part * columns + column),
  }));
}
