import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { attribute, declarationOf, initializerOf, modelOf, nodeOf, rewrittenFile } from "#test/fixtures/onnx-file.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { runModel } from "#test/oracles/run-model.ts";
import { addDims, symbolicDim } from "../graph/dim.ts";
import { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { float32Scalar, tensor } from "../graph/tensor.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { decodeModel } from "../proto/decode-model.ts";
import { encodeModel, type PartialMessage } from "../proto/encode-model.ts";
import type { AttributeProto, ModelProto } from "../proto/onnx-messages.ts";
import { fromOnnx } from "./from-onnx.ts";
import { toOnnx } from "./to-onnx.ts";

const x = declarationOf("x", [2]);
const xs = new ort.Tensor("float32", Float32Array.of(-1, 2), [2]);
const feeds = { x: xs };

/** Writes a graph and reads it again. */
const written = (graph: Graph, envelope?: ModelProto) => decodeModel(encodeModel(toOnnx(graph, envelope)).finish());

/** Runs a graph with x = [-1, 2]. Returns its outputs by name. */
async function results(graph: Graph, more: Readonly<Record<string, ort.Tensor>> = {}) {
  const [outputs] = await runModel(encodeModel(toOnnx(graph)).finish(), [{ ...feeds, ...more }]);
  return Object.fromEntries(
    Object.entries(outputs ?? {}).map(([name, { data }]) => [name, [...(data as Float32Array)]]),
  );
}

describe("outputs", () => {
  it("keep their names when their values are replaced", async () => {
    const s = new Sketch();
    const input = s.input("x", [2]);
    const neg = s.op("Neg", [input]);
    for (const name of ["first", "second", "Neg_1"]) s.output(neg, name);
    s.output(input, "input");
    s.output(s.floats([1], [7]), "constant");
    s.output(input, "x");
    expect(await results(s.graph)).toEqual({
      first: [1, -2],
      second: [1, -2],
      Neg_1: [1, -2],
      input: [-1, 2],
      constant: [7],
      x: [-1, 2],
    });
  });

  it("take their name from a value that is no longer an output", async () => {
    const s = new Sketch();
    const input = s.input("x", [2]);
    const old = s.op("Neg", [input], {}, { outputs: ["y"] });
    s.output(s.op("Abs", [old]), "y");
    s.output(old, "z");
    expect(await results(s.graph)).toEqual({ y: [1, 2], z: [1, -2] });
  });

  it("take their name from a constant that is no longer an output", async () => {
    const s = new Sketch();
    const one = s.graph.constant("y", float32Scalar(1));
    s.output(s.op("Add", [s.input("x", [2]), one]), "y");
    expect(await results(s.graph)).toEqual({ y: [0, 3] });
  });

  it("that are inputs keep their name even if an unused value has the same name", async () => {
    const s = new Sketch();
    const input = s.input("x", [2]);
    const parts = s.node("Split", [input], {}, { outputs: ["p", "q"] });
    const [p, q] = parts.outputs as [Value, Value];
    s.output(p, "p");
    s.output(q, "q");
    s.graph.replace(p, input);
    expect(await results(s.graph)).toEqual({ p: [-1, 2], q: [2] });
  });

  it("that need Identity nodes import ONNX's operator set", async () => {
    const s = new Sketch();
    s.graph.opsets.clear();
    s.output(s.input("x", [2]), "y");
    expect(await results(s.graph)).toEqual({ y: [-1, 2] });
  });
});

describe("a value that a sub-graph reads", () => {
  const branch = (opType: string) => ({ node: [nodeOf(`t = ${opType}(w)`)], output: [declarationOf("t")] });
  const model = modelOf({
    input: [declarationOf("condition", [], "bool"), x],
    node: [
      nodeOf("w = Neg(x)"),
      nodeOf("b = If(condition)", [
        attribute.graph("then_branch", branch("Exp")),
        attribute.graph("else_branch", branch("Abs")),
      ]),
      nodeOf("y = Identity(w)"),
    ],
    output: [declarationOf("b"), declarationOf("y")],
  });
  const condition = new ort.Tensor("bool", Uint8Array.of(0), []);

  it("keeps its name when it becomes an output", async () => {
    const graph = fromOnnx(model);
    const value = (name: string) => graph.outputs.find((output) => output.name === name)?.value as Value;
    const w = [...graph.nodes].find((node) => node.is("Neg"))?.output as Value;
    graph.replace(value("y"), w);
    graph.prune();
    verifyGraph(graph);
    expect(await results(graph, { condition })).toEqual({ b: [1, 2], y: [1, -2] });
  });

  it("stays in the file when other readers get a replacement", async () => {
    const graph = fromOnnx(model);
    const w = [...graph.nodes].find((node) => node.is("Neg"))?.output as Value;
    graph.replace(w, graph.inputs[1] as Value);
    graph.prune();
    verifyGraph(graph);
    expect(await results(graph, { condition })).toEqual({ b: [1, 2], y: [-1, 2] });
  });
});

describe("attributes", () => {
  /** Reads attributes into a graph and writes them again. */
  function roundTrip(attributes: readonly PartialMessage<AttributeProto>[]) {
    const model = modelOf({ node: [nodeOf("y = Op(x)", attributes)], input: [x] });
    const before = model.graph?.node[0]?.attribute;
    const after = decodeModel(rewrittenFile(model)).graph?.node[0]?.attribute;
    return { before, after };
  }

  it.each<[string, PartialMessage<AttributeProto>]>([
    ["a float", attribute.float("a", 1e-12)],
    ["an integer", attribute.int("a", -1)],
    ["the largest integer", { name: "a", i: 2n ** 63n - 1n, type: 2 }],
    ["the smallest integer among others", { name: "a", ints: [1n, -(2n ** 63n)], type: 7 }],
    ["no integers", attribute.ints("a")],
    ["floats", { name: "a", floats: [1, Number.POSITIVE_INFINITY, -0], type: 6 }],
    ["text", { name: "a", s: new TextEncoder().encode("\ufeffbé"), type: 3 }],
    ["bytes that are not text", { name: "a", s: Uint8Array.of(0xff, 0x00, 0xc3), type: 3 }],
    ["texts", { name: "a", strings: [Uint8Array.of(0x61), Uint8Array.of(0xff)], type: 8 }],
    ["a tensor", attribute.tensor("a", tensor("float32", [2, 1], Float32Array.of(1, 2)))],
    ["a graph", attribute.graph("a", { node: [nodeOf("z = Neg(x)")], output: [declarationOf("z")] })],
    ["graphs", { name: "a", graphs: [{ name: "one" }, { name: "two" }], type: 10 }],
    ["a type", { name: "a", tp: { tensorType: { elemType: 1 } }, type: 13 }],
    ["a reference", attribute.reference("a", "b", 1)],
  ])("are unchanged after reading and writing: %s", (_, draft) => {
    const { before, after } = roundTrip([draft, attribute.int("other", 2)]);
    const named = before?.map((each) => (each.t ? { ...each, t: { ...each.t, name: "" } } : each));
    expect(after).toEqual(named);
  });
});

describe("a file", () => {
  it("keeps its producer, metadata, documentation, functions and overloads", () => {
    const more = { key: "k", value: "v" };
    const model = modelOf(
      {
        input: [{ ...declarationOf("x", ["batch"]), docString: "ids" }],
        node: [
          nodeOf("y = Op(x)", [], { name: "n", domain: "d", docString: "doc", overload: "o", metadataProps: [more] }),
        ],
        output: [declarationOf("y", [undefined, "batch"])],
        docString: "graph",
        metadataProps: [more],
      },
      {
        producerName: "exporter",
        producerVersion: "1",
        docString: "model",
        modelVersion: 3n,
        metadataProps: [more],
        functions: [{ name: "Op", domain: "d", overload: "other" }],
        opsetImport: [{ domain: "d", version: 2n }],
      },
    );
    expect(decodeModel(rewrittenFile(model))).toEqual(model);
  });

  it("drops the declared types of intermediate values, which may be gone", () => {
    const model = modelOf({ input: [x], node: [nodeOf("y = Neg(x)")], valueInfo: [declarationOf("h", [9])] });
    expect(decodeModel(rewrittenFile(model)).graph?.valueInfo).toEqual([]);
  });

  it("keeps the default values of inputs", () => {
    const model = modelOf({
      input: [x],
      initializer: [initializerOf("x", tensor("float32", [2], Float32Array.of(1, 2)))],
    });
    expect(decodeModel(rewrittenFile(model))).toEqual(model);
  });

  it("has each constant once, and no unread constants", () => {
    const graph = new Graph("g");
    const one = graph.constant("one", float32Scalar(1));
    graph.constant("two", float32Scalar(2));
    graph.add("Add", [one, one]);
    graph.add("Neg", [one]);
    expect(written(graph).graph?.initializer.map(({ name }) => name)).toEqual(["one"]);
  });

  it("declares the version of every domain in use", () => {
    const s = new Sketch(13);
    s.op("Gelu", [s.op("Neg", [s.input("x", [2])])], {}, { domain: MICROSOFT });
    expect(written(s.graph)).toMatchObject({
      irVersion: 8n,
      opsetImport: [
        { domain: "", version: 13n },
        { domain: MICROSOFT, version: 1n },
      ],
    });
  });

  it("declares the known types and shapes of inputs and outputs", () => {
    const graph = new Graph("g");
    const shape = [symbolicDim("batch"), 3, addDims(symbolicDim("s"), 1)];
    graph.outputs.push({ name: "y", value: graph.input("x", { dtype: "int64", shape }), declaration: undefined });
    graph.outputs.push({ name: "z", value: graph.add("Op", []).output, declaration: undefined });
    const dim = [{ dimParam: "batch" }, { dimValue: 3n }, { dimParam: "1+s" }];
    const type = { tensorType: { elemType: 7, shape: { dim } } };
    expect(written(graph).graph).toMatchObject({
      input: [{ name: "x", type }],
      output: [{ name: "y", type }, { name: "z" }],
    });
    expect(written(graph).graph?.output[1]?.type).toBeUndefined();
  });
});
