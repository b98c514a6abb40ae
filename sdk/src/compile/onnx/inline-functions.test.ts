import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { attribute, declarationOf, expectSameResults, modelOf, nodeOf } from "#test/fixtures/onnx-file.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import type { PartialMessage } from "../proto/encode-model.ts";
import type { ModelProto, NodeProto } from "../proto/onnx-messages.ts";
import { fromOnnx } from "./from-onnx.ts";

const DOMAIN = "local.functions";
const OPSETS = [
  { domain: "", version: 17n },
  { domain: DOMAIN, version: 1n },
];
const FLOAT = 1;
const INT = 2;

const call = (text: string, attributes: Parameters<typeof nodeOf>[1] = [], more: PartialMessage<NodeProto> = {}) =>
  nodeOf(text, attributes, { domain: DOMAIN, ...more });

type FunctionDraft = PartialMessage<ModelProto["functions"][number]>;
/**
 * Makes a local function, for example `functionOf("y = Twice(x)", ["y = Add(x, x)"])`. A node written as text uses an
 * operator of ONNX's own domain.
 */
function functionOf(
  text: string,
  nodes: readonly (string | PartialMessage<NodeProto>)[],
  more: FunctionDraft = {},
): FunctionDraft {
  const { opType, input, output } = nodeOf(text);
  const node = nodes.map((each) => (typeof each === "string" ? nodeOf(each) : each));
  return { name: opType, domain: DOMAIN, input, output, node, opsetImport: OPSETS, ...more };
}

/** Makes a model with an input x, float32[3], and an output y. */
const modelWith = (
  nodes: readonly PartialMessage<NodeProto>[],
  functions: readonly FunctionDraft[],
  more: PartialMessage<ModelProto> = {},
) =>
  modelOf(
    { node: nodes, input: [declarationOf("x", [3])], output: [declarationOf("y")] },
    { opsetImport: OPSETS, functions, ...more },
  );

const feeds = [{ x: new ort.Tensor("float32", Float32Array.of(-1.5, 2, 3), [3]) }];
const operators = (model: ModelProto) =>
  fromOnnx(model)
    .sorted()
    .map(({ opType }) => opType);

/**
 * Checks that inlining gives a graph with the `expected` operators, and that onnxruntime computes the same results for
 * it.
 */
async function expectInlined(model: ModelProto, expected: readonly string[]): Promise<void> {
  expect(operators(model)).toEqual(expected);
  await expectSameResults(model, feeds);
}

describe("a call of a local function", () => {
  const twice = functionOf("y = Twice(x)", ["h = Identity(x)", "y = Add(h, x)"]);

  it("is replaced by the function's nodes", () =>
    expectInlined(modelWith([call("h = Twice(x)"), call("y = Twice(h)")], [twice]), [
      "Identity",
      "Add",
      "Identity",
      "Add",
    ]));

  it("is replaced inside other functions", () =>
    expectInlined(
      modelWith(
        [call("y = Fourfold(x)")],
        [functionOf("b = Fourfold(a)", [call("t = Twice(a)"), call("b = Twice(t)")]), twice],
      ),
      ["Identity", "Add", "Identity", "Add"],
    ));

  it("gives the nodes names that start with its own", () => {
    const model = modelWith([call("y = Twice(x)", [], { name: "/layer/twice" })], [twice]);
    expect(
      fromOnnx(model)
        .sorted()
        .map(({ origin }) => origin),
    ).toEqual(["/layer/twice/h", "/layer/twice/y"]);
  });

  it("passes on its attributes, the function's defaults, or none", () => {
    const leaky = functionOf(
      "y = Leaky(x)",
      [nodeOf("y = LeakyRelu(x)", [attribute.reference("alpha", "slope", FLOAT)])],
      {
        attributeProto: [attribute.float("slope", 0.5)],
      },
    );
    const concat = functionOf("y = Join(x)", [nodeOf("y = Softmax(x)", [attribute.reference("axis", "along", INT)])], {
      attribute: ["along"],
    });
    const nodes = [
      call("a = Leaky(x)"),
      call("b = Leaky(a)", [attribute.float("slope", 0.25)]),
      call("c = Join(b)", [attribute.int("along", 0)]),
      call("y = Join(c)"),
    ];
    const model = modelWith(nodes, [leaky, concat]);
    const settings = fromOnnx(model)
      .sorted()
      .map((node) => node.float("alpha") ?? node.int("axis"));
    expect(settings).toEqual([0.5, 0.25, 0, undefined]);
    return expectInlined(model, ["LeakyRelu", "LeakyRelu", "Softmax", "Softmax"]);
  });

  it("can turn attributes into constants", () => {
    const scale = functionOf(
      "y = Scale(x)",
      [nodeOf("s = Constant()", [attribute.reference("value_float", "by", FLOAT)]), "y = Mul(x, s)"],
      { attribute: ["by"] },
    );
    return expectInlined(modelWith([call("y = Scale(x)", [attribute.float("by", 3)])], [scale]), ["Mul"]);
  });

  it("may leave out inputs", () => {
    const clip = functionOf("y = Bounded(x, low, high)", ["y = Clip(x, low, high)"]);
    const low = nodeOf("low = Constant()", [attribute.float("value_float", -1)]);
    return expectInlined(modelWith([low, call("h = Bounded(x, low)"), call("y = Bounded(h, , low)")], [clip]), [
      "Clip",
      "Clip",
    ]);
  });

  it("may leave out outputs that the function itself reads", () => {
    const both = functionOf("y, h = Both(x)", ["h = Neg(x)", "y = Exp(h)"]);
    return expectInlined(modelWith([call("y, = Both(x)")], [both]), ["Neg", "Exp"]);
  });

  it("stays if the function has sub-graphs", () => {
    const branch = { node: [nodeOf("z = Neg(x)")], output: [declarationOf("z")] };
    const chosen = functionOf("y = Chosen(x)", [
      nodeOf("c = Constant()", [attribute.tensor("value", { dtype: "bool", shape: [], data: Uint8Array.of(1) })]),
      nodeOf("y = If(c)", [attribute.graph("then_branch", branch), attribute.graph("else_branch", branch)]),
    ]);
    return expectInlined(modelWith([call("y = Chosen(x)")], [chosen]), ["Chosen"]);
  });

  it("stays if the function uses other operator set versions", () => {
    const versions = (version: bigint, domain = "") => ({ opsetImport: [{ domain, version }] });
    const of = (more: FunctionDraft) =>
      operators(modelWith([call("y = F(x)")], [functionOf("y = F(x)", ["y = Neg(x)"], more)]));
    expect(of(versions(17n))).toEqual(["Neg"]);
    expect(of(versions(17n, "ai.onnx"))).toEqual(["Neg"]);
    expect(of(versions(13n))).toEqual(["F"]);
    expect(of(versions(13n, "ai.onnx"))).toEqual(["F"]);
    expect(of(versions(1n, "example.com"))).toEqual(["F"]);
  });

  it("is replaced if the outer function imports a domain that the model does not import", () => {
    const outer = functionOf("y = Outer(x)", [nodeOf("y = Inner(x)", [], { domain: "inner" })], {
      opsetImport: [...OPSETS, { domain: "inner", version: 1n }],
    });
    const inner = functionOf("y = Inner(x)", ["y = Neg(x)"], { domain: "inner" });
    expect(operators(modelWith([call("y = Outer(x)")], [outer, inner]))).toEqual(["Neg"]);
  });

  it("refers to the function with its domain and overload", () => {
    const of = (overload: string, opType: string) => functionOf("y = F(x)", [`y = ${opType}(x)`], { overload });
    const functions = [of("", "Neg"), of("other", "Abs"), functionOf("y = Exp(x)", ["y = Neg(x)"])];
    const model = modelWith(
      [call("a = F(x)"), call("b = F(a)", [], { overload: "other" }), nodeOf("y = Exp(b)")],
      functions,
      { irVersion: 10n },
    );
    return expectInlined(model, ["Neg", "Abs", "Exp"]);
  });
});

describe("recursive functions", () => {
  it.each([
    ["one that calls itself", [functionOf("y = F(x)", [call("y = F(x)")])]],
    [
      "two that call each other",
      [functionOf("y = F(x)", [call("y = G(x)")]), functionOf("y = G(x)", [call("y = F(x)")])],
    ],
    ["one that calls itself twice", [functionOf("y = F(x)", [call("h = F(x)"), call("y = F(h)")])]],
    [
      "a billion nodes of thirty functions",
      Array.from({ length: 30 }, (_, i) =>
        i === 29
          ? functionOf("y = F29(x)", ["y = Neg(x)"])
          : functionOf(`y = F${i === 0 ? "" : i}(x)`, [call(`h = F${i + 1}(x)`), call(`y = F${i + 1}(h)`)]),
      ),
    ],
  ])("are refused: %s", (_, functions) => {
    expect(refusal(() => fromOnnx(modelWith([call("y = F(x)")], functions)))).toBe("graph_invalid");
  });
});
