import { foldConstants } from "../evaluate/fold-constants.ts";
import type { Graph } from "../graph/graph.ts";
import { verifyGraph } from "../graph/verify-graph.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import type { Questions } from "../rewrite/questions.ts";
import type { Trace } from "../rewrite/trace.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { mergeCommonSubexpressions } from "./common-subexpressions.ts";
import { normalizationRules } from "./index.ts";

/** Maximum number of rounds. Usually three are enough. */
const MAX_ROUNDS = 16;

/**
 * Removes the differences between exporters, in place, so that each fusion needs one short pattern instead of one per
 * exporter.
 */
export async function normalizeGraph(graph: Graph, trace: Trace, questions: Questions): Promise<void> {
  // Repeats the steps: folding constants makes more sizes known, and known sizes allow more folding.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = graph.nodes.size;
    inferShapes(graph);
    mergeCommonSubexpressions(graph);
    await foldConstants(graph);
    const hasChanged = applyRules(graph, normalizationRules, trace, questions);
    if (!hasChanged && graph.nodes.size === before) break;
  }
  inferShapes(graph);
  mergeCommonSubexpressions(graph);
  verifyGraph(graph);
}
