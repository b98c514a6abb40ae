import { expect } from "vitest";
import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { substituteSymbols } from "#sdk/compile/graph/dim.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { elementCount, tensorFromNumbers } from "#sdk/compile/graph/tensor.ts";
import { verifyGraph } from "#sdk/compile/graph/verify-graph.ts";
import { normalizeGraph } from "#sdk/compile/normalize/normalize-graph.ts";
import { applyRules } from "#sdk/compile/rewrite/apply-rules.ts";
import { Questions } from "#sdk/compile/rewrite/questions.ts";
import type { Rule } from "#sdk/compile/rewrite/rule.ts";
import { Trace } from "#sdk/compile/rewrite/trace.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { Sketch } from "../fixtures/sketch.ts";
import { runGraph } from "./run-graph.ts";
import { largestOutputDifference } from "./run-model.ts";

/** Tolerance for results around 1. A rewrite may add numbers in another order, and float32 then rounds differently. */
const FLOAT32_ROUNDING = 1e-5;

/** Two sizes for each dynamic dimension, so that a rewrite fails if it replaces a dynamic dimension with a constant. */
const SIZES = [
  { batch: 2, sequence: 5 },
  { batch: 3, sequence: 8 },
];

type Sizes = Readonly<Record<string, number>>;

export interface Options {
  readonly opset?: number;
  readonly optimize?: (graph: Graph) => Promise<Trace>;
  readonly sizes?: readonly Sizes[];
  /** Exclusive maximum of the random integers, by input name. Default: 2, because most integer inputs are masks. */
  readonly below?: Readonly<Record<string, number>>;
  /** Tolerance for results that are rounded to float16. Default: the tolerance for float32. */
  readonly tolerance?: number;
  /** Returns the values of the inputs that are not random. */
  readonly given?: (sizes: Sizes) => Readonly<Record<string, readonly number[]>>;
}

export interface Rewritten {
  readonly graph: Graph;
  readonly trace: Trace;
  readonly nodesBefore: number;
  readonly counts: Readonly<Record<string, number>>;
  /** Returns why a pattern did not apply, as a list of `node: reason`. */
  readonly why: (pattern: string) => string[];
}

/** Rewrites a sketch. Expects a valid graph that computes the same results as before. */
export async function rewritten(draw: (sketch: Sketch) => void, options: Options = {}): Promise<Rewritten> {
  const [before, after] = [new Sketch(options.opset), new Sketch(options.opset)];
  for (const sketch of [before, after]) draw(sketch);
  const nodesBefore = after.graph.nodes.size;
  const trace = await (options.optimize ?? fuseGraph)(after.graph);
  verifyGraph(after.graph);
  expect(trace.notes).toEqual([]);
  await expectSame(after.graph, before.graph, options);
  const why = (pattern: string) =>
    [...after.graph.nodes].flatMap((root) => {
      const reason = trace.reasonFor([pattern], [root]);
      return reason ? [`${reason.node}: ${reason.why}`] : [];
    });
  return { graph: after.graph, trace, nodesBefore, counts: countOperators(after.graph), why };
}

/** Expects two graphs to compute the same results on random inputs. */
export async function expectSame(found: Graph, wanted: Graph, options: Options = {}): Promise<void> {
  const feeds = (options.sizes ?? SIZES).map((sizes, seed) => inputsFor(wanted, sizes, options, seed));
  const [ours, theirs] = [await runGraph(found, feeds), await runGraph(wanted, feeds)];
  for (const [i, outputs] of theirs.entries()) {
    expect(largestOutputDifference(ours[i] ?? {}, outputs), `largest difference in run ${i}`).toBeLessThan(
      options.tolerance ?? FLOAT32_ROUNDING,
    );
  }
}

/** Counts the operators of a graph by name, in all domains. */
export function countOperators({ nodes }: Graph): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { opType } of nodes) counts[opType] = (counts[opType] ?? 0) + 1;
  return counts;
}

/** Returns a function that normalizes a graph and applies only the given rules. */
export const only =
  (...rules: readonly Rule[]) =>
  async (graph: Graph): Promise<Trace> => {
    const [trace, questions] = [new Trace(), new Questions()];
    await normalizeGraph(graph, trace, questions);
    do applyRules(graph, rules, trace, questions);
    while (await questions.answer(graph));
    return trace;
  };

function inputsFor({ inputs }: Graph, sizes: Sizes, { below, given }: Options, seed: number) {
  const random = randomNumbers(seed + 1);
  const fixed = given?.(sizes) ?? {};
  return Object.fromEntries(
    inputs.map((input) => {
      const shape = (input.shape ?? []).map((dim) => substituteSymbols(dim, (name) => sizes[name] ?? -1)) as number[];
      const count = elementCount(shape);
      const draw = input.dtype?.startsWith("float")
        ? () => 4 * random() - 2
        : () => Math.floor((below?.[input.name] ?? 2) * random());
      const values = fixed[input.name] ?? Array.from({ length: count }, draw);
      return [input.name, toOrt(tensorFromNumbers(input.dtype ?? "bool", shape, values))];
    }),
  );
}
