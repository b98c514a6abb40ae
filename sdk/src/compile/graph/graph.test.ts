import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { float32Scalar } from "./tensor.ts";
import { verifyGraph } from "./verify-graph.ts";

const output = (graph: Graph, value: Value, name = value.name) =>
  graph.outputs.push({ name, value, declaration: undefined });
const namesOf = (nodes: Iterable<Node>) => [...nodes].map(({ name }) => name);

describe("Graph", () => {
  it("gives every value and node a unique name, and the requested name if it is free", () => {
    const graph = new Graph("g");
    const values = ["x", "x", "x_1", "x"].map((name) => graph.input(name).name);
    expect(values).toEqual(["x", "x_1", "x_1_1", "x_2"]);
    const nodes = ["Relu", "Relu"].map((opType) => graph.add(opType, []));
    expect(namesOf(nodes)).toEqual(["Relu", "Relu_1"]);
    expect(nodes.map(({ output }) => output.name)).toEqual(["Relu", "Relu_1"]);
    expect(graph.add("Split", [], { outputs: ["x", "", "part"] }).outputs.map((value) => value?.name)).toEqual([
      "x_3",
      undefined,
      "part",
    ]);
  });

  it("gives no node and no value a reserved name", () => {
    const graph = new Graph("g");
    graph.input("used");
    graph.reserve(["inner", "used"]);
    expect(graph.add("Relu", [], { name: "inner", outputs: ["y"] }).name).toBe("inner_0");
    expect(["inner", "used"].map((name) => graph.input(name).name)).toEqual(["inner_0", "used_1"]);
  });

  it("accepts both names of ONNX's own domain", () => {
    const node = new Graph("g").add("Relu", [], { domain: "ai.onnx" });
    expect(node.is("Relu")).toBe(true);
    expect(node.is("Relu", "com.microsoft")).toBe(false);
  });

  it("returns an attribute only if it has the requested kind", () => {
    const node = new Graph("g").add("Op", [], { attributes: { axis: { kind: "int", value: 1 } } });
    expect([node.int("axis"), node.float("axis"), node.ints("axis"), node.string("axis"), node.int("other")]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("replaces a value in nodes and outputs", () => {
    const graph = new Graph("g");
    const [x, y] = [graph.input("x"), graph.input("y")];
    const both = graph.add("Add", [x, x]);
    output(graph, x, "same");
    graph.replace(x, y);
    expect(both.inputs).toEqual([y, y]);
    expect([x.users.size, y.users.size]).toEqual([0, 1]);
    expect(graph.outputs[0]?.value).toBe(y);
    verifyGraph(graph);
  });

  it("keeps a value that a sub-graph reads by name", () => {
    const graph = new Graph("g");
    const before = graph.add("Neg", [graph.input("x")]);
    const after = graph.add("Abs", [graph.input("y")]);
    const branch = graph.add("If", [before.output], { captures: [before.output] });
    output(graph, branch.output);
    output(graph, before.output);
    graph.replace(before.output, after.output);
    expect(branch.inputs).toEqual([after.output]);
    expect(branch.captures).toEqual([before.output]);
    expect(graph.outputs[1]?.value).toBe(before.output);
    graph.prune();
    expect(graph.nodes.has(before)).toBe(true);
    verifyGraph(graph);
  });

  it("can replace a value by itself", () => {
    const graph = new Graph("g");
    const x = graph.input("x");
    graph.add("Neg", [x]);
    graph.replace(x, x);
    expect(x.users.size).toBe(1);
    verifyGraph(graph);
  });

  it("prunes unused nodes, and nodes that only they use", () => {
    const graph = new Graph("g");
    const x = graph.input("x");
    const kept = graph.add("Neg", [x]);
    const dead = graph.add("Abs", [graph.add("Exp", [kept.output]).output]);
    graph.add("If", [], { captures: [dead.output] });
    graph.add("Split", [kept.output], { outputs: ["", ""] });
    output(graph, kept.output);
    graph.prune();
    expect(namesOf(graph.nodes)).toEqual(["Neg"]);
    expect(kept.output.users.size).toBe(0);
    verifyGraph(graph);
  });

  it("prunes only the given nodes and the nodes they read", () => {
    const graph = new Graph("g");
    const [left, right] = [graph.add("Neg", []), graph.add("Abs", [])];
    graph.prune([graph.add("Exp", [left.output])]);
    expect([...graph.nodes]).toEqual([right]);
  });

  it("keeps a node if one of its outputs is used", () => {
    const graph = new Graph("g");
    const split = graph.add("Split", [graph.input("x")], { outputs: ["a", "b"] });
    output(graph, split.outputs[1] as Value);
    graph.prune();
    expect(graph.nodes.has(split)).toBe(true);
  });

  it("lists each constant of nodes, sub-graphs and outputs once", () => {
    const graph = new Graph("g");
    const [a, b, c, unused] = ["a", "b", "c", "d"].map((name) => graph.constant(name, float32Scalar(1))) as [
      Value,
      Value,
      Value,
      Value,
    ];
    graph.add("Add", [a, a], { captures: [b] });
    output(graph, c);
    expect(graph.constants()).toEqual(new Set([a, b, c]));
    expect(unused.isConstant).toBe(true);
  });
});

/** Draws an acyclic graph. Edges go from earlier to later nodes, and the nodes are added in random order. */
const acyclic = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 15 })
  .chain((edges) => fc.tuple(fc.constant(edges), fc.shuffledSubarray([...edges.keys()], { minLength: edges.length })));

function scattered([edges, order]: [number[][], number[]]): { graph: Graph; nodes: Node[] } {
  const graph = new Graph("g");
  const nodes: Node[] = [];
  for (const i of order) nodes[i] = graph.add(`N${i}`, []);
  for (const [i, sources] of edges.entries()) {
    if (i === 0) continue;
    const values = sources.map((source) => (nodes[source % i] as Node).output);
    graph.setInputs(nodes[i] as Node, values.slice(1), values.slice(0, 1));
  }
  return { graph, nodes };
}

describe("sorted", () => {
  it("puts every node after the nodes it reads, each once", () => {
    fc.assert(
      fc.property(acyclic, (shape) => {
        const { graph } = scattered(shape);
        const seen = new Set<Node>();
        for (const node of graph.sorted()) {
          for (const value of [...node.inputs, ...node.captures]) expect(seen.has(value?.producer as Node)).toBe(true);
          seen.add(node);
        }
        expect(seen).toEqual(graph.nodes);
      }),
      seeded(300),
    );
  });

  it("keeps the order of insertion if it is a valid order", () => {
    fc.assert(
      fc.property(acyclic, ([edges]) => {
        const { graph, nodes } = scattered([edges, [...edges.keys()]]);
        expect(graph.sorted()).toEqual(nodes);
      }),
      seeded(100),
    );
  });

  it("sorts a node's producers in the order of its inputs", () => {
    const graph = new Graph("g");
    const sum = graph.add("Add", []);
    const [left, right] = [graph.add("Neg", []), graph.add("Abs", [])];
    graph.setInputs(sum, [right.output, left.output]);
    expect(graph.sorted()).toEqual([right, left, sum]);
  });

  it("refuses cycles of any length, through inputs and through sub-graphs", () => {
    fc.assert(
      fc.property(acyclic, fc.nat(), fc.nat(), fc.boolean(), (shape, from, to, isCaptured) => {
        const { graph, nodes } = scattered(shape);
        const [early, late] = [from % nodes.length, to % nodes.length].sort((x, y) => x - y) as [number, number];
        const [first, last] = [nodes[early] as Node, nodes[late] as Node];
        // Closes a cycle: `last` reads `first`, and `first` reads `last`.
        if (first !== last) graph.setInputs(last, [...last.inputs, first.output]);
        if (isCaptured) graph.setInputs(first, first.inputs, [last.output]);
        else graph.setInputs(first, [...first.inputs, last.output]);
        expect(refusal(() => graph.sorted())).toBe("graph_invalid");
      }),
      seeded(200),
    );
  });

  it("sorts long chains and nodes with many inputs", () => {
    const graph = new Graph("g");
    let value = graph.input("x");
    const wide: Value[] = [];
    for (let i = 0; i < runs(30_000, 150_000); i++) {
      value = graph.add("Neg", [value]).output;
      wide.push(value);
    }
    const nodes = [...graph.nodes];
    // Adds the last node first, so that the sort reaches all other nodes from it.
    graph.nodes.clear();
    const concat = graph.add("Concat", wide);
    for (const node of nodes.reverse()) graph.nodes.add(node);
    expect(graph.sorted().at(-1)).toBe(concat);
  });
});

describe("edits", () => {
  /** One edit: its kind, and indices of the nodes and values that it changes. */
  const edit = fc.tuple(fc.nat(5), fc.nat(), fc.nat(), fc.nat());

  it("keep all links consistent", () => {
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 60 }), (edits) => {
        const graph = new Graph("g");
        graph.input("x");
        for (const [kind, first, second, third] of edits) {
          const nodes = graph.sorted();
          const values = [...graph.inputs, ...graph.constants(), ...nodes.flatMap(({ outputs }) => outputs as Value[])];
          const pick = (number: number, from = values) => from[number % from.length] as Value;
          const place = (value: Value) => values.indexOf(value);
          const node = nodes[first % Math.max(1, nodes.length)];
          const earlier = node ? values.slice(0, place(node.output)) : values;
          if (kind === 0) graph.add("Add", [pick(first), pick(second)], { captures: third % 3 ? [] : [pick(third)] });
          else if (kind === 1) graph.add("Split", [pick(first), undefined], { outputs: ["a", "b"] });
          else if (kind === 2) graph.add("Mul", [pick(first), graph.constant("c", float32Scalar(third))]);
          else if (kind === 3) output(graph, pick(first));
          else if (kind === 4 && node) graph.setInputs(node, [pick(second, earlier), undefined, pick(third, earlier)]);
          // Replaces only by an earlier value, because a later value may be computed from the replaced value.
          else if (kind === 5 && node) graph.replace(node.output, pick(second, earlier));
          if (first % 4 === 0) graph.prune(node && third % 2 ? [node] : undefined);
          verifyGraph(graph);
        }
        graph.prune();
        verifyGraph(graph);
        expect([...graph.nodes].every(({ outputs }) => outputs.some((value) => value && graph.isUsed(value)))).toBe(
          true,
        );
      }),
      seeded(300),
    );
  });
});
