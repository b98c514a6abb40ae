import type { Graph } from "../graph/graph.ts";
import { normalizeGraph } from "../normalize/normalize-graph.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { Questions } from "../rewrite/questions.ts";
import { Trace } from "../rewrite/trace.ts";
import { fusions } from "./index.ts";

/** Fuses the nodes of a graph in place. The returned trace says which rules applied, and why others did not. */
export async function fuseGraph(graph: Graph): Promise<Trace> {
  const trace = new Trace();
  const questions = new Questions();
  await normalizeGraph(graph, trace, questions);
  for (const rules of fusions) {
    do applyRules(graph, rules, trace, questions);
    while (await questions.answer(graph));
    await normalizeGraph(graph, trace, questions);
  }
  return trace;
}
