import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { HIDDEN } from "#test/fixtures/draw-attention.ts";
import { attribute, declarationOf, initializerOf, modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { CAST, Sketch } from "#test/fixtures/sketch.ts";
import { floatCasts, halved } from "#test/oracles/halved.ts";
import type { Tensors } from "#test/oracles/run-model.ts";
import { toOrt } from "../../evaluate/ort-session.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import { fromOnnx } from "../../onnx/from-onnx.ts";

/** Maximum absolute difference from float32. Rounding causes at most 0.002 here. */
const MAX_DIFFERENCE = 0.01;

const values = Float32Array.from({ length: 2 * 3 * HIDDEN }, (_, i) => Math.sin(1 + 3 * i));
const x = new ort.Tensor("float32", values, [2, 3, HIDDEN]);

async function compare(draw: (s: Sketch, x: Value) => Value) {
  const s = new Sketch();
  s.output(draw(s, s.input("x", ["batch", "sequence", HIDDEN])));
  return halved(s.graph, [{ x }]);
}

const linear = (s: Sketch, value: Value) => s.op("MatMul", [value, s.random([HIDDEN, HIDDEN])]);
const typesOf = (graph: Graph, opType: string) =>
  [...graph.nodes].filter((node) => node.opType === opType).map(({ output }) => output.dtype);

describe("toFp16, for values that sub-graphs read", () => {
  const weights = initializerOf(
    "weights",
    tensor(
      "float32",
      [3, 3],
      Float32Array.from({ length: 9 }, (_, i) => Math.cos(i)),
    ),
  );
  const inputs = [declarationOf("condition", [], "bool"), declarationOf("rows", [3, 3])];
  const rows = new ort.Tensor("float32", values.slice(0, 9), [3, 3]);
  const feeds: Tensors[] = [true, false].map((on) => ({
    condition: new ort.Tensor("bool", Uint8Array.of(Number(on)), []),
    rows,
  }));

  it("keeps them in float32, and casts them for other readers", async () => {
    const branches = [
      attribute.graph("then_branch", { node: [nodeOf("t = MatMul(outer, weights)")], output: [declarationOf("t")] }),
      attribute.graph("else_branch", { node: [nodeOf("e = Exp(outer)")], output: [declarationOf("e")] }),
    ];
    const model = modelOf({
      input: inputs,
      initializer: [weights],
      node: [
        nodeOf("outer = MatMul(rows, weights)"),
        nodeOf("chosen = If(condition)", branches),
        nodeOf("more = MatMul(outer, weights)"),
        nodeOf("y = Add(chosen, more)"),
      ],
      output: [declarationOf("y", [3, 3])],
    });
    const { graph, difference } = await halved(fromOnnx(model), feeds);
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
    expect(typesOf(graph, "MatMul")).toEqual(["float32", "float16"]);
  });

  it("keeps them in float32 in loops", async () => {
    const body = {
      input: [declarationOf("i", [], "int64"), declarationOf("go", [], "bool"), declarationOf("sum", [3, 3])],
      node: [nodeOf("on = Identity(go)"), nodeOf("next = MatMul(sum, weights)")],
      output: [declarationOf("on", [], "bool"), declarationOf("next", [3, 3])],
    };
    const model = modelOf({
      input: inputs,
      initializer: [weights, initializerOf("trips", tensor("int64", [], BigInt64Array.of(3n)))],
      node: [
        nodeOf("before = MatMul(rows, weights)"),
        nodeOf("looped = Loop(trips, condition, before)", [attribute.graph("body", body)]),
        nodeOf("y = MatMul(looped, weights)"),
      ],
      output: [declarationOf("y", [3, 3])],
    });
    const { graph, difference } = await halved(fromOnnx(model), feeds);
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
    // Shape inference does not know the type of a loop's result, so the MatMul that reads it is not converted.
    expect(typesOf(graph, "MatMul")).toEqual(["float16", undefined]);
  });
});

describe("toFp16 keeps quantized computations in float32", () => {
  const qdq = (s: Sketch, value: Value, zero = s.constant(tensor("uint8", [], Uint8Array.of(128)))) =>
    s.op("DequantizeLinear", [s.op("QuantizeLinear", [value, 0.02, zero]), 0.02, zero]);
  const int8 = (s: Sketch, columns = HIDDEN) => {
    const length = HIDDEN * columns;
    return s.constant(
      tensor(
        "int8",
        [HIDDEN, columns],
        Int8Array.from({ length }, (_, i) => ((i * 37) % 255) - 127),
      ),
    );
  };

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    [
      "with QuantizeLinear and DequantizeLinear",
      (s, input) => {
        const sum = s.op("Add", [linear(s, qdq(s, input)), s.random([HIDDEN])]);
        return qdq(s, s.op("Transpose", [sum], { perm: [0, 2, 1] }));
      },
    ],
    [
      "with DynamicQuantizeLinear and MatMulInteger",
      (s, input) => {
        const [bytes, scale, zero] = s.node("DynamicQuantizeLinear", [input], {}, { outputs: ["b", "s", "z"] }).outputs;
        const sums = s.op("Cast", [s.op("MatMulInteger", [bytes, int8(s), zero])], { to: CAST.float32 });
        const scaled = s.op("Mul", [sums, s.op("Mul", [scale, 0.01])]);
        return s.op("MatMul", [scaled, s.op("Transpose", [scaled], { perm: [0, 2, 1] })]);
      },
    ],
    [
      "with DynamicQuantizeMatMul",
      (s, input) => s.op("DynamicQuantizeMatMul", [input, int8(s), 0.01], {}, { domain: MICROSOFT }),
    ],
  ])("%s", async (_, draw) => {
    const { graph, difference } = await compare(draw);
    expect(difference).toBe(0);
    expect(floatCasts(graph)).toEqual([]);
  });

  it.each<[string, (s: Sketch, x: Value) => Value]>([
    [
      "QAttention",
      (s, input) => {
        const [bytes, scale, zero] = s.node("DynamicQuantizeLinear", [input], {}, { outputs: ["b", "s", "z"] }).outputs;
        const inputs = [bytes, int8(s, 3 * HIDDEN), s.random([3 * HIDDEN]), scale, 0.01, undefined, zero];
        return s.op("QAttention", inputs, { num_heads: 2 }, { domain: MICROSOFT });
      },
    ],
    [
      "GatherBlockQuantized",
      (s, input) => {
        const table = s.constant(
          tensor(
            "uint8",
            [5, 16],
            Uint8Array.from({ length: 80 }, (_, i) => (i * 29) % 256),
          ),
        );
        const settings = { bits: 8, block_size: 16, gather_axis: 0, quantize_axis: 1 };
        const places = s.op("ArgMax", [input], { axis: -1, keepdims: 0 });
        const rows = s.op("Mod", [places, s.index(5)]);
        return s.op("GatherBlockQuantized", [table, rows, s.random([5, 1], 1)], settings, { domain: MICROSOFT });
      },
    ],
    [
      "MatMulNBits",
      (s, input) => {
        const wide = s.op("Concat", [input, input], { axis: -1 });
        const bytes = s.constant(
          tensor(
            "uint8",
            [4, 1, 8],
            Uint8Array.from({ length: 32 }, (_, i) => (i * 29) % 256),
          ),
        );
        const settings = { K: 16, N: 4, bits: 4, block_size: 16 };
        return s.op("MatMulNBits", [wide, bytes, s.random([4], 1)], settings, { domain: MICROSOFT });
      },
    ],
  ])("next to MatMuls in half precision: %s", async (_, draw) => {
    const { graph, difference } = await compare((s, input) => {
      const flat = s.op("Reshape", [draw(s, input), [-1]]);
      return s.op("Concat", [flat, s.op("Reshape", [linear(s, input), [-1]])], { axis: 0 });
    });
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
    expect(typesOf(graph, "MatMul")).toEqual(["float16"]);
  });

  it("except MatMuls whose weights are only stored in 8 bits", async () => {
    const { graph, difference } = await compare((s, input) =>
      s.op("MatMul", [input, s.op("DequantizeLinear", [int8(s), 0.01])]),
    );
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
    expect(typesOf(graph, "MatMul")).toEqual(["float16"]);
    expect(typesOf(graph, "DequantizeLinear")).toEqual(["float32"]);
  });
});

describe("toFp16, for models that are partly in half precision", () => {
  it("keeps float16 nodes in float16, and only the necessary casts", async () => {
    const s = new Sketch();
    const input = s.input("x", ["batch", "sequence", HIDDEN], "float16");
    const half = s.constant(
      tensor(
        "float16",
        [HIDDEN, HIDDEN],
        Float16Array.from({ length: HIDDEN ** 2 }, (_, i) => Math.cos(i)),
      ),
    );
    const scores = s.op("Cast", [s.op("MatMul", [input, half])], { to: CAST.float32 });
    const probabilities = s.op("Softmax", [scores], { axis: -1 });
    const normal = s.op("LayerNormalization", [s.op("Cast", [input], { to: CAST.float32 }), s.random([HIDDEN], 1)]);
    s.output(s.op("MatMul", [s.op("Cast", [probabilities], { to: CAST.float16 }), half]), "attended");
    s.output(s.op("Cast", [normal], { to: CAST.float16 }), "normal");
    const halves = toOrt(tensor("float16", [2, 3, HIDDEN], Float16Array.from(values)));
    const { graph, difference } = await halved(s.graph, [{ x: halves }]);
    expect(difference).toBeLessThan(MAX_DIFFERENCE);
    expect(typesOf(graph, "LayerNormalization")).toEqual(["float16"]);
    // The casts around the softmax remain. The casts around the normalization are removed.
    expect(floatCasts(graph)).toHaveLength(2);
  });
});

describe("toFp16 adds no cast", () => {
  it("for a node that reads only the shape", async () => {
    const { graph } = await compare((s, input) => {
      const y = linear(s, input);
      return s.op("Reshape", [linear(s, y), s.op("Shape", [y])]);
    });
    expect(floatCasts(graph)).toHaveLength(2);
  });

  it("for an unknown operator and its readers", async () => {
    const { graph, difference } = await compare((s, input) => linear(s, s.op("Mean", [input, input])));
    expect(difference).toBe(0);
    expect(floatCasts(graph)).toEqual([]);
  });
});
