import { describe, expect, it } from "vitest";
import { GraphBuilder } from "./builder.ts";
import { type Graph, int, type Node, type ValueInfo } from "./plain.ts";
import { verify } from "./plain-verify.ts";
import { float32Scalar } from "./tensor.ts";

const value = (name: string): ValueInfo => ({ name, dtype: "float32", shape: ["n"] });

describe("GraphBuilder", () => {
  it("writes nodes in order and names every value after its node", () => {
    const g = new GraphBuilder();
    const double = g.op("double", "Add", ["x", "x"]);
    g.contrib("y", "FastGelu", [double], { some: int(1) });
    const graph = g.build("example", [value("x")], [value("y")]);
    expect(graph.nodes).toEqual([
      { name: "double", opType: "Add", domain: "", inputs: ["x", "x"], outputs: ["double"], attributes: {} },
      {
        name: "y",
        opType: "FastGelu",
        domain: "com.microsoft",
        inputs: ["double"],
        outputs: ["y"],
        attributes: { some: { kind: "int", value: 1 } },
      },
    ]);
  });

  it("keeps only the constants that are used", () => {
    const g = new GraphBuilder();
    g.constant("unused", float32Scalar(1));
    g.op("y", "Add", ["x", g.constant("used", float32Scalar(2))]);
    expect([...g.build("example", [value("x")], [value("y")]).initializers.keys()]).toEqual(["used"]);
  });

  it("takes one constant twice under its name, and refuses two of one name", () => {
    const g = new GraphBuilder();
    const one = float32Scalar(1);
    expect(g.constant("c", one)).toBe(g.constant("c", one));
    expect(() => g.constant("c", float32Scalar(1))).toThrow(
      expect.objectContaining({ code: "graph_invalid", message: "Two different constants are named c." }),
    );
  });

  it("refuses to build a graph that is not sound", () => {
    const g = new GraphBuilder();
    g.op("y", "Add", ["x", "nowhere"]);
    expect(() => g.build("example", [value("x")], [value("y")])).toThrow(/Add y reads nowhere/);
  });
});

describe("verify", () => {
  const node = (outputs: string[], inputs: string[]): Node => ({
    name: outputs.join("+") || "node",
    domain: "",
    opType: "Op",
    inputs,
    outputs,
    attributes: {},
  });
  const graph = (nodes: Node[], change: Partial<Graph> = {}): Graph => ({
    name: "example",
    inputs: [value("x")],
    outputs: [value("y")],
    initializers: new Map([["c", float32Scalar(1)]]),
    nodes,
    ...change,
  });

  it("passes a graph whose values are defined once and before use", () => {
    expect(() => verify(graph([node(["a", ""], ["x", "", "c"]), node(["y"], ["a"])]))).not.toThrow();
  });

  it.each<[string, Graph, string]>([
    [
      "a value used before it is defined",
      graph([node(["y"], ["a"]), node(["a"], ["x"])]),
      "Op y reads a, which nothing",
    ],
    ["a value that reads itself", graph([node(["y"], ["y"])]), "Op y reads y"],
    ["a value defined twice", graph([node(["y"], ["x"]), node(["y"], ["x"])]), "y is defined a second time by Op y"],
    ["a node that hides an input", graph([node(["x"], ["c"])]), "x is defined a second time"],
    [
      "a constant that hides an input",
      graph([], { initializers: new Map([["x", float32Scalar(1)]]) }),
      "x is defined a second time by an initializer",
    ],
    ["two inputs of one name", graph([], { inputs: [value("x"), value("x")] }), "x is defined a second time"],
    ["an output that nothing computes", graph([node(["a"], ["x"])]), "output y is never computed"],
  ])("refuses %s", (_, unsound, message) => {
    expect(() => verify(unsound)).toThrow(
      expect.objectContaining({
        code: "graph_invalid",
        message: expect.stringContaining(`Graph example: ${message}`),
        hint: expect.stringContaining("report it"),
      }),
    );
  });
});
