import type { Graph } from "../graph/graph.ts";
import { normalize } from "../normalize/index.ts";
import { applyRules } from "../rewrite/driver.ts";
import { Questions } from "../rewrite/questions.ts";
import { Trace } from "../rewrite/trace.ts";
import { fusions } from "./index.ts";

/** Rewrites a graph into fused operators, in place. */
export async function optimizeGraph(graph: Graph): Promise<Trace> {
  const trace = new Trace();
  const questions = new Questions();
  await normalize(graph, trace, questions);
  for (const rules of fusions) {
    do applyRules(graph, rules, trace, questions);
    while (await questions.answer(graph));
    await normalize(graph, trace, questions);
  }
  return trace;
}
