import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { float32Scalar } from "./tensor.ts";
import { verifyGraph } from "./verify-graph.ts";

/** Draws input → Neg → Abs → output. Abs also reads a constant. */
function chain() {
  const s = new Sketch();
  const input = s.input("input", [3]);
  const neg = s.node("Neg", [input]);
  const constant = s.graph.constant("constant", float32Scalar(1));
  const abs = s.node("Abs", [neg.output, constant]);
  s.output(abs.output);
  return { graph: s.graph, input, neg, constant, abs };
}
type Chain = ReturnType<typeof chain>;

const elsewhere = (): Node => new Graph("elsewhere").add("Relu", []);

describe("verifyGraph", () => {
  it("accepts a valid graph", () => {
    expect(refusal(() => verifyGraph(chain().graph))).toBe("accepted");
  });

  it.each<[string, RegExp, (chain: Chain) => unknown]>([
    [
      "a removed node that is still read",
      /node Abs \(Abs\) reads Neg, which is not defined/,
      ({ graph, neg }) => graph.nodes.delete(neg),
    ],
    ["a removed input that is still read", /reads input, which is not defined/, ({ graph }) => graph.inputs.pop()],
    [
      "a value of another graph",
      /reads Relu, which is not defined/,
      ({ graph, abs }) => graph.setInputs(abs, [elsewhere().output]),
    ],
    [
      "a captured value of another graph",
      /reads Relu, which/,
      ({ graph, abs }) => graph.setInputs(abs, [], [elsewhere().output]),
    ],
    ["a value that does not list its reader", /Neg does not list its user Abs/, ({ neg }) => neg.output.users.clear()],
    ["an input that does not list its reader", /input does not list/, ({ input }) => input.users.clear()],
    [
      "a captured value that does not list its reader",
      /does not list/,
      ({ neg, input }) => Object.assign(neg, { captures: [input] }) && input.users.clear(),
    ],
    [
      "a removed reader",
      /node Relu reads Neg, but is not in the graph/,
      ({ neg }) => neg.output.users.add(elsewhere()),
    ],
    ["a removed reader of an input", /node Relu reads input, but is not/, ({ input }) => input.users.add(elsewhere())],
    [
      "a removed reader of a constant",
      /node Relu reads constant, but is not/,
      ({ constant }) => constant.users.add(elsewhere()),
    ],
    [
      "a value that lists a node that does not read it",
      /Abs lists the user Neg, which does not read it/,
      ({ neg, abs }) => abs.output.users.add(neg),
    ],
    [
      "an input that lists a node that does not read it",
      /input lists the user Abs/,
      ({ input, abs }) => input.users.add(abs),
    ],
    ["two values with one name", /two values have the name input/, ({ neg }) => rename(neg.output, "input")],
    ["two inputs with one name", /two values have the name input/, ({ graph }) => rename(graph.input("x"), "input")],
    [
      "an output that is not computed",
      /output result is not computed/,
      ({ graph }) => Object.assign(graph.outputs[0] ?? {}, { value: elsewhere().output }),
    ],
    ["a cycle", /reads its own output/, ({ graph, neg, abs }) => graph.setInputs(neg, [abs.output])],
  ])("refuses %s", (_, message, damage) => {
    const parts = chain();
    damage(parts);
    expect(() => verifyGraph(parts.graph)).toThrow(
      expect.objectContaining({ code: "graph_invalid", message: expect.stringMatching(message) }),
    );
  });
});

const rename = (value: Value, name: string) => Object.assign(value, { name });
