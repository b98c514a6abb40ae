import fc from "fast-check";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { messagesOf, readFields, valuesOf } from "#test/oracles/protobuf-reader.ts";
import { runOnnx } from "#test/oracles/run-onnx.ts";
import { type Attribute, float, int, ints } from "../graph/node.ts";
import { float32Scalar, int64s, type Tensor, tensor } from "../graph/tensor.ts";
import { encodeOnnx } from "./to-onnx.ts";

/**
 * Tolerance, relative to the largest value: onnxruntime computes in float32, this test in float64. The measured
 * difference is at most 1.1e-7 for 8 nodes. The rest is a margin for CPUs that sum in another order.
 */
const FLOAT32_ROUNDING = 1e-6;

const string = (value: string): Attribute => ({ kind: "string", value });

/** A matrix that the test computes itself, without onnxruntime. */
interface Matrix {
  rows: number;
  columns: number;
  at: (row: number, column: number) => number;
}

/** Computes each element once and stores it. Otherwise, every read of an element would run all earlier operators. */
function matrix(rows: number, columns: number, at: Matrix["at"]): Matrix {
  const values = Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns));
  return { rows, columns, at: (row, column) => values[row * columns + column] as number };
}
const valuesIn = ({ rows, columns, at }: Matrix) =>
  Array.from({ length: rows * columns }, (_, i) => at(Math.floor(i / columns), i % columns));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const range = (length: number) => Array.from({ length }, (_, i) => i);

/** One random operation: an operator, the indices of its inputs, and the numbers for its constants. */
interface Step {
  op: keyof typeof operators;
  operand: number;
  other: number;
  numbers: number[];
  size: number;
}

/**
 * The arguments of an operator: the graph that gets the node, the node's name and its inputs. `y` is `x` or another
 * value with the same shape.
 */
interface Context {
  g: NamedGraph;
  name: string;
  step: Step;
  x: { name: string; value: Matrix };
  y: { name: string; value: Matrix };
  constant: (part: string, value: Tensor) => string;
}

/** Numbers that float32 represents exactly. */
const eighth = fc.integer({ min: -8, max: 8 }).map((n) => n / 8);
const cycle = (numbers: readonly number[], length: number) =>
  range(length).map((i) => numbers[i % numbers.length] as number);

const elementwise =
  (opType: string, compute: (a: number, b: number) => number) =>
  ({ g, name, x, y }: Context): Matrix => {
    g.op(name, opType, [x.name, y.name]);
    return matrix(x.value.rows, x.value.columns, (i, j) => compute(x.value.at(i, j), y.value.at(i, j)));
  };

/** Operators, each with its definition in plain arithmetic. Together they use every kind of attribute. */
const operators = {
  add: elementwise("Add", (a, b) => a + b),
  subtract: elementwise("Sub", (a, b) => a - b),
  multiply: elementwise("Mul", (a, b) => a * b),
  scale({ g, name, x, step, constant }: Context) {
    const factor = step.numbers[0] as number;
    g.op(name, "Mul", [constant("factor", float32Scalar(factor)), x.name]);
    return matrix(x.value.rows, x.value.columns, (i, j) => factor * x.value.at(i, j));
  },
  tanh({ g, name, x }: Context) {
    g.op(name, "Tanh", [x.name]);
    return matrix(x.value.rows, x.value.columns, (i, j) => Math.tanh(x.value.at(i, j)));
  },
  // Uses onnxruntime's own domain, and leaves out the optional second input.
  fastGelu({ g, name, x }: Context) {
    g.contrib(name, "FastGelu", [x.name]);
    const gelu = (v: number) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3)));
    return matrix(x.value.rows, x.value.columns, (i, j) => gelu(x.value.at(i, j)));
  },
  // Leaves out an input in the middle, which is written as an empty name.
  atMost({ g, name, x, step, constant }: Context) {
    const limit = step.numbers[0] as number;
    g.op(name, "Clip", [x.name, "", constant("limit", float32Scalar(limit))]);
    return matrix(x.value.rows, x.value.columns, (i, j) => Math.min(x.value.at(i, j), limit));
  },
  transpose({ g, name, x }: Context) {
    g.op(name, "Transpose", [x.name], { perm: ints(1, 0) });
    return matrix(x.value.columns, x.value.rows, (i, j) => x.value.at(j, i));
  },
  matMul({ g, name, x, step, constant }: Context) {
    const { rows, columns } = x.value;
    const weights = cycle(step.numbers, columns * step.size);
    g.op(name, "MatMul", [
      x.name,
      constant("weights", tensor("float32", [columns, step.size], Float32Array.from(weights))),
    ]);
    return matrix(rows, step.size, (i, j) =>
      sum(range(columns).map((k) => x.value.at(i, k) * (weights[k * step.size + j] as number))),
    );
  },
  softmax({ g, name, x, step }: Context) {
    // Axes −2 and 0 sum over the rows; axes −1 and 1 sum over the columns.
    const axis = (step.size % 4) - 2;
    g.op(name, "Softmax", [x.name], { axis: int(axis) });
    const along = (i: number, j: number) =>
      axis % 2 ? range(x.value.columns).map((k) => x.value.at(i, k)) : range(x.value.rows).map((k) => x.value.at(k, j));
    return matrix(
      x.value.rows,
      x.value.columns,
      (i, j) => 1 / sum(along(i, j).map((v) => Math.exp(v - x.value.at(i, j)))),
    );
  },
  layerNorm({ g, name, x, step, constant }: Context) {
    const { rows, columns } = x.value;
    const epsilon = 0.05 + Math.abs(step.numbers[0] as number);
    const gain = cycle(step.numbers, columns);
    g.op(
      name,
      "LayerNormalization",
      [x.name, constant("gain", tensor("float32", [columns], Float32Array.from(gain)))],
      { axis: int(-1), epsilon: float(epsilon) },
    );
    return matrix(rows, columns, (i, j) => {
      const row = range(columns).map((k) => x.value.at(i, k));
      const mean = sum(row) / columns;
      const variance = sum(row.map((v) => (v - mean) ** 2)) / columns;
      return ((x.value.at(i, j) - mean) / Math.sqrt(variance + epsilon)) * (gain[j] as number);
    });
  },
  // Uses an integer tensor with a negative number.
  flatten({ g, name, x, constant }: Context) {
    g.op(name, "Reshape", [x.name, constant("shape", int64s(1, -1))]);
    const { rows, columns } = x.value;
    return matrix(1, rows * columns, (_, j) => x.value.at(Math.floor(j / columns), j % columns));
  },
  lastRows({ g, name, x, step, constant }: Context) {
    const rows = 1 + (step.size % x.value.rows);
    const indices = range(rows).map((i) => -1 - i);
    g.op(name, "Gather", [x.name, constant("indices", int64s(...indices))], { axis: int(0) });
    return matrix(rows, x.value.columns, (i, j) => x.value.at(x.value.rows - 1 - i, j));
  },
  // Uses a string attribute.
  repeatEdges({ g, name, x, constant }: Context) {
    g.op(name, "Pad", [x.name, constant("pads", int64s(1, 0, 0, 1))], { mode: string("edge") });
    const { rows, columns } = x.value;
    return matrix(rows + 1, columns + 1, (i, j) => x.value.at(Math.max(i - 1, 0), Math.min(j, columns - 1)));
  },
} satisfies Record<string, (context: Context) => Matrix>;

const step: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom(...(Object.keys(operators) as (keyof typeof operators)[])),
  operand: fc.nat(20),
  other: fc.nat(20),
  numbers: fc.array(eighth, { minLength: 1, maxLength: 5 }),
  size: fc.integer({ min: 1, max: 4 }),
});

describe("encodeOnnx", () => {
  it("writes every graph so that onnxruntime computes the expected values", async () => {
    const input = fc
      .record({ rows: fc.integer({ min: 1, max: 4 }), columns: fc.integer({ min: 1, max: 4 }) })
      .chain(({ rows, columns }) =>
        fc
          .array(eighth, { minLength: rows * columns, maxLength: rows * columns })
          .map((values) => matrix(rows, columns, (i, j) => values[i * columns + j] as number)),
      );
    const used = new Set<string>();
    await fc.assert(
      fc.asyncProperty(input, fc.array(step, { minLength: 1, maxLength: 8 }), async (x, steps) => {
        const g = new NamedGraph("random", [{ name: "x", dtype: "float32", shape: [x.rows, "columns"] }]);
        const values = [{ name: "x", value: x }];
        steps.forEach((step, index) => {
          used.add(step.op);
          const name = `${step.op}.${index}`;
          const operand = values[step.operand % values.length] as (typeof values)[number];
          const alike = values.filter(
            ({ value: { rows, columns } }) => rows === operand.value.rows && columns === operand.value.columns,
          );
          const value = operators[step.op]({
            g,
            name,
            step,
            x: operand,
            y: alike[step.other % alike.length] as (typeof values)[number],
            constant: (part, value) => g.constant(`${name}.${part}`, value),
          });
          values.push({ name, value });
        });
        const computed = values.slice(1);
        // Makes every value an output, so that onnxruntime neither drops nor fuses any of the values.
        const graph = g.outputs(...computed.map(({ name }) => name));
        const feed = new ort.Tensor("float32", Float32Array.from(valuesIn(x)), [x.rows, x.columns]);
        const outputs = await runOnnx(encodeOnnx(graph), { x: feed });
        for (const { name, value } of computed) {
          const expected = valuesIn(value);
          const output = outputs[name] as ort.Tensor;
          expect(output.dims, name).toEqual([value.rows, value.columns]);
          const largest = Math.max(1, ...expected.map(Math.abs));
          const worst = Math.max(...expected.map((v, i) => Math.abs(v - (output.data[i] as number))));
          expect(worst / largest, name).toBeLessThan(FLOAT32_ROUNDING);
        }
      }),
      seeded(150),
    );
    expect([...used].sort()).toEqual(Object.keys(operators).sort());
  });

  it.each<[Tensor, number[]]>([
    [tensor("float32", [2], Float32Array.of(1.5, -2)), [1.5, -2]],
    [tensor("float16", [2], Float16Array.of(0.25, -65504)), [0.25, -65504]],
    [{ dtype: "bfloat16", shape: [2], data: Uint8Array.of(0x80, 0x3f, 0x00, 0xc0) }, [1, -2]],
    [{ dtype: "float64", shape: [1], data: new Uint8Array(Float64Array.of(-0.125).buffer) }, [-0.125]],
    [int64s(-3, 2 ** 31), [-3, 2 ** 31]],
    [tensor("int32", [1, 2], Int32Array.of(-7, 7)), [-7, 7]],
    [tensor("int8", [2], Int8Array.of(-128, 127)), [-128, 127]],
    [tensor("uint8", [2], Uint8Array.of(0, 255)), [0, 255]],
    [{ dtype: "bool", shape: [2], data: Uint8Array.of(0, 1) }, [0, 1]],
    [float32Scalar(0.5), [0.5]],
    [tensor("float32", [0], new Float32Array()), []],
  ])("writes constants of every type: $dtype $shape", async (value, expected) => {
    const g = new NamedGraph("constant", []);
    g.op("y", "Cast", [g.constant("c", value)], { to: int(1) });
    const { y } = await runOnnx(encodeOnnx(g.outputs("y")), {});
    expect(y?.dims).toEqual(value.shape);
    expect(Array.from(y?.data as Float32Array)).toEqual(expected);
  });

  it("writes every kind of attribute with its type number from onnx.proto3", () => {
    const g = new NamedGraph("attributes", [{ name: "x", dtype: "float32", shape: [] }]);
    g.op("y", "Anything", ["x"], {
      i: int(-1),
      f: float(0.5),
      s: string("edge"),
      is: ints(1, 0, -2),
      none: ints(),
    });
    const [graph] = messagesOf(readFields(encodeOnnx(g.outputs())), 7);
    const [node] = messagesOf(graph ?? [], 1);
    const attributes = messagesOf(node ?? [], 5).map((attribute) => ({
      name: new TextDecoder().decode(valuesOf(attribute, 1)[0] as Uint8Array),
      type: valuesOf(attribute, 20)[0],
      float: valuesOf(attribute, 2),
      int: valuesOf(attribute, 3).map((i) => BigInt.asIntN(64, i as bigint)),
      string: valuesOf(attribute, 4).map((s) => new TextDecoder().decode(s as Uint8Array)),
      ints: valuesOf(attribute, 8).map((i) => BigInt.asIntN(64, i as bigint)),
    }));
    const empty = { float: [], int: [], string: [], ints: [] };
    expect(attributes).toEqual([
      { ...empty, name: "i", type: 2n, int: [-1n] },
      { ...empty, name: "f", type: 1n, float: [0.5] },
      { ...empty, name: "s", type: 3n, string: ["edge"] },
      { ...empty, name: "is", type: 7n, ints: [1n, 0n, -2n] },
      { ...empty, name: "none", type: 7n },
    ]);
  });

  it("writes an omitted input as an empty name", () => {
    const g = new NamedGraph("optional", [{ name: "x", dtype: "float32", shape: [] }]);
    g.op("y", "Clip", ["x", "", "x"]);
    const [graph] = messagesOf(readFields(encodeOnnx(g.outputs())), 7);
    const inputs = valuesOf(messagesOf(graph ?? [], 1)[0] ?? [], 1);
    expect(inputs.map((input) => new TextDecoder().decode(input as Uint8Array))).toEqual(["x", "", "x"]);
  });
});
