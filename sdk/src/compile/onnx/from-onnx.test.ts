import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { readExportCase, toTensors } from "#test/fixtures/export-case.ts";
import {
  attribute,
  declarationOf,
  expectSameResults,
  initializerOf,
  modelOf,
  nodeOf,
} from "#test/fixtures/onnx-file.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { sampled } from "#test/fixtures/sampled.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { float32Scalar, int64s, tensor } from "../graph/tensor.ts";
import type { PartialMessage } from "../proto/encode-model.ts";
import type { GraphProto, ModelProto, NodeProto } from "../proto/onnx-messages.ts";
import { fromOnnx } from "./from-onnx.ts";
import { freeNames } from "./inline-functions.ts";
import { readOnnx } from "./read-onnx.ts";

const x = declarationOf("x", [3]);
const y = declarationOf("y");
const numbers = (...values: number[]) => tensor("float32", [values.length], Float32Array.from(values));
const textOf = (text: string) => new TextEncoder().encode(text);

const nodes = (model: ModelProto) =>
  fromOnnx(model)
    .sorted()
    .map(({ opType }) => opType);

describe("inputs", () => {
  const shapesOf = (model: ModelProto) => fromOnnx(model).inputs.map(({ shape }) => shape && `[${shape}]`);

  it("use the file's names of dynamic sizes, and unique names for unnamed ones", () => {
    const input = [
      declarationOf("a", ["batch", 4, undefined]),
      declarationOf("b", ["batch", -1]),
      declarationOf("c"),
      { name: "d" },
    ];
    expect(shapesOf(modelOf({ input }))).toEqual(["[batch,4,a.2]", "[batch,b.1]", undefined, undefined]);
  });

  it("keep their default values, which a caller may override", async () => {
    const model = modelOf({
      input: [x, declarationOf("w", [3])],
      initializer: [initializerOf("w", numbers(1, 2, 3))],
      node: [nodeOf("y = Mul(x, w)")],
      output: [y],
    });
    const graph = fromOnnx(model);
    expect(graph.inputs.map(({ name }) => name)).toEqual(["x", "w"]);
    expect(graph.inputs[1]).toMatchObject({ isConstant: false, constant: undefined });
    const given = new ort.Tensor("float32", Float32Array.of(4, 5, 6), [3]);
    await expectSameResults(model, [{ x: given }, { x: given, w: given }]);
  });

  it("are constants in formats without default values", async () => {
    const model = modelOf(
      {
        input: [x, declarationOf("w", [3])],
        initializer: [initializerOf("w", numbers(1, 2, 3))],
        node: [nodeOf("y = Mul(x, w)")],
        output: [y],
      },
      { irVersion: 3n, opsetImport: [{ domain: "", version: 8n }] },
    );
    const graph = fromOnnx(model);
    expect(graph.inputs.map(({ name }) => name)).toEqual(["x"]);
    expect([...graph.constants()].map(({ name }) => name)).toEqual(["w"]);
    await expectSameResults(model, [{ x: new ort.Tensor("float32", Float32Array.of(4, 5, 6), [3]) }]);
  });
});

describe("Constant nodes", () => {
  const constantOf = (setting: Parameters<typeof nodeOf>[1], more: PartialMessage<NodeProto> = {}) => {
    const model = modelOf({ node: [nodeOf("c = Constant()", setting, more)], output: [{ name: "c" }] });
    return fromOnnx(model).outputs[0]?.value.constant;
  };

  it.each([
    ["a tensor", [attribute.tensor("value", int64s(5, 6))], int64s(5, 6)],
    ["a float", [attribute.float("value_float", 0.5)], float32Scalar(0.5)],
    ["floats", [{ name: "value_floats", floats: [1, 2], type: 6 }], numbers(1, 2)],
    ["an integer", [attribute.int("value_int", -3)], tensor("int64", [], BigInt64Array.of(-3n))],
    ["integers", [attribute.ints("value_ints", 1, 2)], int64s(1, 2)],
    ["no integers", [attribute.ints("value_ints")], int64s()],
  ])("with %s are read as constants", async (_, setting, expected) => {
    expect(constantOf(setting)).toEqual(expected);
    expect(constantOf(setting, { domain: "ai.onnx" })).toEqual(expected);
    await expectSameResults(modelOf({ node: [nodeOf("c = Constant()", setting)], output: [{ name: "c" }] }), [{}]);
  });

  it.each([
    ["a string", [{ name: "value_string", s: textOf("words"), type: 3 }]],
    ["strings", [{ name: "value_strings", strings: [textOf("a"), textOf("b")], type: 8 }]],
    ["a tensor of strings", [{ name: "value", t: { dims: [1n], dataType: 8, stringData: [textOf("a")] }, type: 4 }]],
  ])("stay nodes if they hold %s", async (_, setting) => {
    expect(constantOf(setting)).toBeUndefined();
    await expectSameResults(modelOf({ node: [nodeOf("c = Constant()", setting)], output: [{ name: "c" }] }), [{}]);
  });

  it("of another domain stay nodes", () => {
    expect(constantOf([attribute.int("value_int", 1)], { domain: "example.com" })).toBeUndefined();
  });
});

describe("unknown content", () => {
  it("includes string tensors, which are kept", async () => {
    const words = { name: "words", dims: [3n], dataType: 8, stringData: ["a", "bé", ""].map(textOf) };
    const model = modelOf({
      input: [declarationOf("i", ["n"], "int64")],
      initializer: [words],
      node: [nodeOf("y = Gather(words, i)")],
      output: [{ name: "y" }, { name: "words" }],
    });
    expect(fromOnnx(model).outputs[1]?.value).toMatchObject({ isConstant: true, constant: undefined });
    await expectSameResults(model, [{ i: new ort.Tensor("int64", BigInt64Array.of(1n, 0n), [2]) }]);
  });

  it("includes operators of unknown domains, which are kept with their versions", () => {
    const model = modelOf(
      { input: [x], node: [nodeOf("y, , z = Parse(x, )", [], { domain: "example.com" })], output: [y] },
      {
        opsetImport: [
          { domain: "ai.onnx", version: 17n },
          { domain: "example.com", version: 4n },
        ],
      },
    );
    const graph = fromOnnx(model);
    expect([...graph.opsets]).toEqual([
      ["", 17],
      ["example.com", 4],
    ]);
    const [node] = graph.nodes;
    expect(node).toMatchObject({ opType: "Parse", domain: "example.com" });
    expect(node?.outputs.map((value) => value?.name)).toEqual(["y", undefined, "z"]);
    expect(node?.inputs.map((value) => value?.name)).toEqual(["x", undefined]);
  });
});

describe("the name of a node", () => {
  it.each([
    ["negative", "negative", "Node negative (Neg) reads"],
    ["", "Neg:y", "Node y (Neg) reads"],
  ])("%o becomes %s, and errors name the node", (name, wanted, message) => {
    const node = { ...nodeOf("y = Neg(x)"), name };
    const [made] = fromOnnx(modelOf({ input: [x], node: [node], output: [y] })).nodes;
    expect(made?.name).toBe(wanted);
    expect(() => fromOnnx(modelOf({ node: [node], output: [y] }))).toThrow(message);
  });
});

/** Makes a graph whose sub-graph reads values of the outer graph. */
const capturing = (branch: PartialMessage<GraphProto>, more: PartialMessage<GraphProto> = {}) =>
  modelOf({
    input: [declarationOf("condition", [], "bool"), x],
    node: [
      nodeOf("outer = Neg(x)"),
      nodeOf("y = If(condition)", [
        attribute.graph("then_branch", branch),
        attribute.graph("else_branch", { node: [nodeOf("e = Exp(x)")], output: [declarationOf("e")] }),
      ]),
    ],
    output: [y],
    ...more,
  });

const condition = (value: boolean) => new ort.Tensor("bool", Uint8Array.of(Number(value)), []);
const xs = new ort.Tensor("float32", Float32Array.of(0.5, -1, 2), [3]);

describe("sub-graphs", () => {
  const branchFeeds = [true, false].map((value) => ({ condition: condition(value), x: xs }));

  it("count as readers of outer values", async () => {
    const model = capturing({ node: [nodeOf("t = Add(outer, x)")], output: [declarationOf("t")] });
    const graph = fromOnnx(model);
    const branch = [...graph.nodes].find((node) => node.is("If"));
    expect(new Set(branch?.captures.map(({ name }) => name))).toEqual(new Set(["outer", "x"]));
    graph.prune();
    expect(graph.nodes.size).toBe(2);
    await expectSameResults(model, branchFeeds);
  });

  it("return outer values through a node of their own, and may nest", async () => {
    const inner = [
      attribute.graph("then_branch", { node: [nodeOf("a = Mul(outer, local)")], output: [declarationOf("a")] }),
      attribute.graph("else_branch", { node: [nodeOf("b = Identity(x)")], output: [declarationOf("b")] }),
    ];
    const model = capturing({
      initializer: [initializerOf("own", numbers(1, 2, 3))],
      node: [nodeOf("local = Add(outer, own)"), nodeOf("t = If(condition)", inner)],
      output: [declarationOf("t")],
    });
    const branch = [...fromOnnx(model).nodes].find((node) => node.is("If"));
    expect(new Set(branch?.captures.map(({ name }) => name))).toEqual(new Set(["outer", "x", "condition"]));
    await expectSameResults(model, branchFeeds);
  });

  it("of Loop have their own inputs", async () => {
    const body: PartialMessage<GraphProto> = {
      input: [declarationOf("i", [], "int64"), declarationOf("go", [], "bool"), declarationOf("sum", [3])],
      node: [nodeOf("on = Identity(go)"), nodeOf("next = Add(sum, outer)")],
      output: [declarationOf("on", [], "bool"), declarationOf("next", [3])],
    };
    const model = modelOf({
      input: [declarationOf("condition", [], "bool"), x],
      initializer: [initializerOf("trips", tensor("int64", [], BigInt64Array.of(4n)))],
      node: [nodeOf("outer = Neg(x)"), nodeOf("y = Loop(trips, condition, x)", [attribute.graph("body", body)])],
      output: [y],
    });
    const loop = [...fromOnnx(model).nodes].find((node) => node.is("Loop"));
    expect(loop?.captures.map(({ name }) => name)).toEqual(["outer"]);
    await expectSameResults(model, branchFeeds);
  });

  it("of Scan have their own inputs", async () => {
    const body: PartialMessage<GraphProto> = {
      input: [declarationOf("state", []), declarationOf("element", [])],
      node: [nodeOf("next = Add(state, element)"), nodeOf("scaled = Mul(next, factor)")],
      output: [declarationOf("next", []), declarationOf("scaled", [])],
    };
    const model = modelOf({
      input: [x],
      initializer: [initializerOf("factor", float32Scalar(3)), initializerOf("zero", float32Scalar(0))],
      node: [nodeOf("last, y = Scan(zero, x)", [attribute.int("num_scan_inputs", 1), attribute.graph("body", body)])],
      output: [y, declarationOf("last")],
    });
    expect([...fromOnnx(model).constants()].map(({ name }) => name)).toEqual(["zero", "factor"]);
    await expectSameResults(model, [{ x: xs }]);
  });

  it("do not capture a name that they define themselves", () => {
    const model = modelOf({
      node: [
        nodeOf("y = If(c)", [
          attribute.graph("then_branch", {
            input: [declarationOf("in")],
            initializer: [initializerOf("init", float32Scalar(1))],
            node: [nodeOf("made = Add(in, init)"), nodeOf("out = Add(made, free)"), nodeOf("o = Clip(out, , top)")],
            output: [declarationOf("o"), declarationOf("returned")],
          }),
        ]),
      ],
    });
    expect(freeNames(model.graph?.node[0] as NodeProto)).toEqual(new Set(["free", "top", "returned"]));
  });
});

describe("outputs", () => {
  const initializer = [initializerOf("w", numbers(1, 2, 3))];
  it.each<[string, PartialMessage<GraphProto>]>([
    ["inputs", { node: [nodeOf("y = Neg(x)")], output: [y, declarationOf("x", [3])] }],
    ["constants", { initializer, node: [nodeOf("y = Neg(x)")], output: [y, declarationOf("w")] }],
    [
      "values that nodes read too",
      { node: [nodeOf("h = Neg(x)"), nodeOf("y = Exp(h)")], output: [declarationOf("h"), y] },
    ],
    [
      "second outputs of a node",
      {
        node: [nodeOf("v, i = TopK(x, k)", [])],
        initializer: [initializerOf("k", int64s(2))],
        output: [declarationOf("i", [2], "int64")],
      },
    ],
  ])("may be %s", async (_, graph) => {
    await expectSameResults(modelOf({ input: [x], ...graph }), [{ x: xs }]);
  });
});

describe("an invalid file", () => {
  const cyclic = [nodeOf("a = Neg(b)"), nodeOf("b = Neg(a)")];
  const bytes = (dims: bigint[], length: number) => ({ name: "w", dims, dataType: 1, rawData: new Uint8Array(length) });

  it.each<[string, string, PartialMessage<GraphProto>]>([
    ["a cycle", "graph_invalid", { node: cyclic, output: [{ name: "a" }] }],
    ["a node that reads its own output", "graph_invalid", { node: [nodeOf("a = Neg(a)")] }],
    [
      "a cycle through a sub-graph",
      "graph_invalid",
      { input: [x], node: [nodeOf("y = If(x)", [attribute.graph("then_branch", { node: [nodeOf("z = Neg(y)")] })])] },
    ],
    ["an undefined input", "graph_invalid", { node: [nodeOf("a = Neg(nothing)")] }],
    [
      "a sub-graph that reads an undefined value",
      "graph_invalid",
      {
        input: [x],
        node: [nodeOf("y = If(x)", [attribute.graph("then_branch", { node: [nodeOf("z = Neg(nothing)")] })])],
      },
    ],
    ["an undefined output", "graph_invalid", { output: [y] }],
    ["an output without a name", "graph_invalid", { output: [{}] }],
    ["two inputs with one name", "graph_invalid", { input: [x, x] }],
    ["two constants with one name", "graph_invalid", { initializer: [bytes([1n], 4), bytes([1n], 4)] }],
    ["two nodes with one output", "graph_invalid", { input: [x], node: [nodeOf("y = Neg(x)"), nodeOf("y = Abs(x)")] }],
    ["a node with the same output twice", "graph_invalid", { input: [x], node: [nodeOf("y, y = Split(x)")] }],
    ["an output of a node that is named like an input", "graph_invalid", { input: [x], node: [nodeOf("x = Neg(x)")] }],
    [
      "a Constant named like an initializer",
      "graph_invalid",
      { initializer: [bytes([1n], 4)], node: [nodeOf("w = Constant()", [attribute.int("value_int", 1)])] },
    ],
    ["a sparse constant", "graph_invalid", { sparseInitializer: [{ values: bytes([1n], 4), dims: [9n] }] }],
    ["a constant with too few bytes", "onnx_invalid", { initializer: [bytes([3n], 4)] }],
    ["a constant with a negative size", "onnx_invalid", { initializer: [bytes([-3n], 4)] }],
    ["a constant that is too large for any memory", "onnx_invalid", { initializer: [bytes([2n ** 62n], 4)] }],
    [
      "a Constant of too few bytes",
      "onnx_invalid",
      { node: [nodeOf("c = Constant()", [{ name: "value", type: 4, t: bytes([3n], 4) }])] },
    ],
    [
      "an attribute of too few bytes",
      "onnx_invalid",
      { node: [nodeOf("c = Other()", [{ name: "value", type: 4, t: bytes([3n], 4) }])] },
    ],
  ])("is refused for %s", (_, code, graph) => {
    expect(refusal(() => fromOnnx(modelOf(graph)))).toBe(code);
  });

  it("is refused without a graph", () => {
    const { graph, ...model } = modelOf({});
    expect(graph).toBeDefined();
    expect(refusal(() => fromOnnx(model as ModelProto))).toBe("onnx_invalid");
  });

  it("does not include an empty graph or nodes without fields: they are accepted", () => {
    expect(nodes(modelOf({}))).toEqual([]);
    expect(nodes(modelOf({ node: [{}, { output: [""] }, { opType: "Op", attribute: [{}] }] }))).toEqual(["", "", "Op"]);
  });
});

describeShared("corpus", "an exported model that is read and written again", (folder) => {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => existsSync(join(folder, name, "case.json")))
    : [];

  it.each(sampled(names, 4))("%s computes the same bits", async (name) => {
    const feeds = readExportCase(join(folder, name)).inputs.map(toTensors);
    await expectSameResults(await readOnnx(join(folder, name, "model.onnx")), feeds);
  });

  it("is tested in 150 cases", () => expect(names).toHaveLength(150));
});
