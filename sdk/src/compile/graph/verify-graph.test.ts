import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { float32Scalar } from "./tensor.ts";
import { verifyGraph } from "./verify-graph.ts";

/** input → Neg → Abs → output, and a constant that Abs reads as well. */
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

describe("verify", () => {
  it("accepts a sound graph", () => {
    expect(refusal(() => verifyGraph(chain().graph))).toBe("accepted");
  });

  it.each<[string, RegExp, (chain: Chain) => unknown]>([
    [
      "a node that is gone, but read",
      /Abs Abs reads Neg, which nothing defines/,
      ({ graph, neg }) => graph.nodes.delete(neg),
    ],
    ["an input that is gone, but read", /reads input, which nothing defines/, ({ graph }) => graph.inputs.pop()],
    [
      "a value of another graph",
      /reads Relu, which nothing defines/,
      ({ graph, abs }) => graph.setInputs(abs, [elsewhere().output]),
    ],
    [
      "a captured value of another graph",
      /reads Relu, which/,
      ({ graph, abs }) => graph.setInputs(abs, [], [elsewhere().output]),
    ],
    [
      "a value that does not know who reads it",
      /Neg does not know its user Abs/,
      ({ neg }) => neg.output.users.clear(),
    ],
    ["an input that does not know who reads it", /input does not know/, ({ input }) => input.users.clear()],
    [
      "a captured value that does not know who reads it",
      /does not know/,
      ({ neg, input }) => Object.assign(neg, { captures: [input] }) && input.users.clear(),
    ],
    [
      "a reader that is gone",
      /Relu, which reads Neg, is not in the graph/,
      ({ neg }) => neg.output.users.add(elsewhere()),
    ],
    [
      "a reader of an input that is gone",
      /Relu, which reads input, is not/,
      ({ input }) => input.users.add(elsewhere()),
    ],
    [
      "a reader of a constant that is gone",
      /Relu, which reads constant, is not/,
      ({ constant }) => constant.users.add(elsewhere()),
    ],
    [
      "a reader that does not read",
      /Neg is said to read Abs, but does not/,
      ({ neg, abs }) => abs.output.users.add(neg),
    ],
    ["a reader that does not read the input", /Abs is said to read input/, ({ input, abs }) => input.users.add(abs)],
    ["two values of one name", /two values are named input/, ({ neg }) => rename(neg.output, "input")],
    ["two inputs of one name", /two values are named input/, ({ graph }) => rename(graph.input("x"), "input")],
    [
      "an output that nothing computes",
      /output result is never computed/,
      ({ graph }) => Object.assign(graph.outputs[0] ?? {}, { value: elsewhere().output }),
    ],
    ["nodes in a circle", /reads its own result/, ({ graph, neg, abs }) => graph.setInputs(neg, [abs.output])],
  ])("refuses %s", (_, message, damage) => {
    const parts = chain();
    damage(parts);
    expect(() => verifyGraph(parts.graph)).toThrow(
      expect.objectContaining({ code: "graph_invalid", message: expect.stringMatching(message) }),
    );
  });
});

const rename = (value: Value, name: string) => Object.assign(value, { name });
