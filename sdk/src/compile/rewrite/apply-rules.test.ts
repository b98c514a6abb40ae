import { describe, expect, it } from "vitest";
import { printGraph } from "#test/fixtures/print-graph.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { MICROSOFT } from "../graph/node.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { applyRules } from "./apply-rules.ts";
import { any, bind, op } from "./pattern.ts";
import { Questions } from "./questions.ts";
import { type Question, type Rule, refuse, rule, UNANSWERED } from "./rule.ts";
import { Trace } from "./trace.ts";

function apply(sketch: Sketch, ...rules: Rule[]) {
  const [trace, questions] = [new Trace(), new Questions()];
  inferShapes(sketch.graph);
  applyRules(sketch.graph, rules, trace, questions);
  verifyGraph(sketch.graph);
  const operators = sketch.graph.sorted().map(({ opType }) => opType);
  const why = (name: string) => trace.reasonFor([name], [...sketch.graph.nodes]);
  return { trace, questions, operators, why };
}

const x = any("x");
const tanhOfNeg = (shared: readonly string[] = []) =>
  rule("Merged", {
    roots: ["Tanh"],
    pattern: op("Tanh", [bind("inner", op("Neg", [x]))]),
    shared,
    rewrite: ({ value, add }) => add("Sigmoid", [value("x")]).output,
  });

/** Draws tanh(−x). `also` may add another reader of −x, the inner value. */
function chain(also?: (s: Sketch, inner: ReturnType<Sketch["op"]>) => void) {
  const s = new Sketch();
  const inner = s.op("Neg", [s.input("x", ["n"])], {}, { name: "inner" });
  s.output(s.op("Tanh", [inner], {}, { name: "outer" }));
  also?.(s, inner);
  return s;
}

describe("applyRules", () => {
  it("replaces a match and counts it", () => {
    const { operators, trace } = apply(chain(), tanhOfNeg());
    expect(operators).toEqual(["Sigmoid"]);
    expect([...trace.counts]).toEqual([["Merged", 1]]);
    expect(trace.notes).toEqual([]);
  });

  it.each<[string, Parameters<typeof chain>[0]]>([
    ["another node", (s, inner) => s.output(s.op("Exp", [inner]), "other")],
    ["the graph's outputs", (s, inner) => s.output(inner, "other")],
    ["a sub-graph", (s, inner) => s.output(s.op("If", [s.input("c", [], "bool")], {}, { captures: [inner] }), "other")],
  ])("refuses a match if %s reads an intermediate value", (_, also) => {
    const { operators, why } = apply(chain(also), tanhOfNeg());
    expect(operators).toContain("Tanh");
    expect(why("Merged")).toMatchObject({ node: "inner", why: "inner is also read by nodes outside the pattern" });
  });

  it.each([
    ["float32", undefined],
    ["float16", undefined],
    ["float64", "onnxruntime has no Gelu for float64"],
  ] as const)("fuses a match of type %s only if the fused operator supports the type", (dtype, reason) => {
    const s = new Sketch();
    s.output(s.op("Tanh", [s.op("Neg", [s.input("x", ["n"], dtype)])]));
    const fused = rule("Fused", {
      roots: ["Tanh"],
      pattern: op("Tanh", [op("Neg", [x])]),
      rewrite: ({ value, add }) => add("Gelu", [value("x")], { domain: MICROSOFT }).output,
    });
    const { operators, why } = apply(s, fused);
    expect(operators).toEqual(reason ? ["Neg", "Tanh"] : ["Gelu"]);
    expect(why("Fused")?.why).toBe(reason);
  });

  it("accepts other readers of a value that the rule declares as shared", () => {
    const sketch = chain((s, inner) => s.output(inner, "other"));
    expect(apply(sketch, tanhOfNeg(["inner"])).operators).toEqual(["Neg", "Sigmoid"]);
  });

  it("keeps a value that a sub-graph reads by name", () => {
    const s = new Sketch();
    const outer = s.op("Tanh", [s.op("Neg", [s.input("x", ["n"])])]);
    s.output(s.op("If", [s.input("c", [], "bool")], {}, { captures: [outer] }));
    expect(apply(s, tanhOfNeg()).operators).toEqual(["Neg", "Tanh", "If"]);
  });

  it("keeps a value computed from the root if a sub-graph reads it by name", () => {
    const s = new Sketch();
    const neg = s.op("Neg", [s.input("x", ["n"])]);
    const last = s.op("Tanh", [neg]);
    s.output(s.op("If", [s.input("c", [], "bool")], {}, { captures: [last] }));
    s.output(last, "other");
    const downstream = rule("Downstream", {
      roots: ["Neg"],
      rewrite: ({ root, add }) => [[[...root.output.users][0]?.output ?? root.output, add("Exp", root.inputs).output]],
    });
    const { operators, trace } = apply(s, downstream);
    expect(operators).toEqual(["Neg", "Tanh", "If"]);
    expect(trace.notes).toEqual([]);
  });

  it("does not rewrite a node twice if its other output keeps it in the graph", () => {
    const s = new Sketch();
    const norm = s.node("LayerNormalization", [s.input("x", ["n", 4]), s.random([4])], {}, { outputs: ["y", "mean"] });
    s.output(norm.output);
    s.output(norm.outputs[1] ?? norm.output, "mean");
    const toTanh = rule("Tanh", {
      roots: ["LayerNormalization"],
      rewrite: ({ root, add }) => add("Tanh", [root.inputs[0]]).output,
    });
    const { operators, trace } = apply(s, toTanh);
    expect(operators.toSorted()).toEqual(["LayerNormalization", "Tanh"]);
    expect(trace.notes).toEqual([]);
  });

  it("removes the nodes that a refused rewrite added", () => {
    const refused = rule("Refused", {
      roots: ["Tanh"],
      rewrite: ({ root, add }) => {
        add("Exp", [add("Abs", root.inputs).output]);
        return refuse("for the sake of it", root);
      },
    });
    const { operators, why, trace } = apply(chain(), refused);
    expect(operators).toEqual(["Neg", "Tanh"]);
    expect(why("Refused")).toEqual({ pattern: "Refused", node: "outer", why: "for the sake of it" });
    expect(trace.counts.size).toBe(0);
  });

  it("stops rules that undo each other, and records it", () => {
    const swap = (name: string, from: string, to: string) =>
      rule(name, { roots: [from], rewrite: ({ root, add }) => add(to, root.inputs).output });
    const { operators, trace } = apply(chain(), swap("there", "Tanh", "Erf"), swap("back", "Erf", "Tanh"));
    expect(trace.notes).toEqual([
      { pattern: "rewriting", node: "", why: "rules still changed the graph after 64 rounds" },
    ]);
    expect(operators).toHaveLength(2);
  });

  it("uses the first rule that applies to a node", () => {
    const to = (opType: string) =>
      rule(opType, { roots: ["Tanh"], rewrite: ({ root, add }) => add(opType, root.inputs).output });
    const { trace } = apply(chain(), to("Erf"), to("Exp"));
    expect([...trace.counts.keys()]).toEqual(["Erf"]);
  });

  it.each([
    ["rank", [3, 1, 1]],
    ["size", [3, 1]],
  ])("refuses a replacement with another %s", (_, shape) => {
    const s = new Sketch();
    s.output(s.op("Mul", [s.input("x", ["n", 4]), s.floats(shape, [1, 1, 1])]));
    const drop = rule("Drop", { roots: ["Mul"], check: ({ root }) => root.inputs[0], rewrite: (_, x) => x });
    expect(apply(s, drop).operators).toEqual(["Mul"]);
  });

  it("names new nodes after the replaced node, and infers their shapes", () => {
    const sketch = chain();
    apply(sketch, tanhOfNeg());
    const [node] = sketch.graph.nodes;
    expect(node?.origin).toBe("outer");
    expect(printGraph(sketch.graph)).toContain("float32[n] = Sigmoid(x)");
  });
});

describe("a question", () => {
  it("is answered once per value, and the rule is tried again with the answer", async () => {
    let asked = 0;
    const isInner: Question<boolean> = {
      name: "is inner",
      answer: async (_, value) => {
        asked++;
        return value.name === "inner";
      },
    };
    const curious = rule("Curious", {
      roots: ["Tanh"],
      rewrite({ root, add, ask }) {
        const found = ask(isInner, root.inputs[0] ?? root.output);
        if (found === undefined) return UNANSWERED;
        return found ? add("Erf", root.inputs).output : refuse("it is not the inner node", root);
      },
    });
    const sketch = chain();
    const { questions, trace } = apply(sketch, curious);
    expect(trace.counts.size).toBe(0);
    expect(await questions.answer(sketch.graph)).toBe(true);
    applyRules(sketch.graph, [curious], trace, questions);
    expect([...trace.counts]).toEqual([["Curious", 1]]);
    expect(await questions.answer(sketch.graph)).toBe(false);
    expect(asked).toBe(1);
  });
});
