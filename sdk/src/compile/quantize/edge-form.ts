import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { Questions } from "../rewrite/questions.ts";
import { Trace } from "../rewrite/trace.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";
import { meanOfTokensRule } from "./mean-of-tokens.ts";
import { repeatedHeadsRule } from "./repeated-heads.ts";

interface EdgeForm {
  readonly graph: Graph;
  /** Activation statistics of the layers with changed weights, too. */
  readonly statistics: CalibrationStatistics | undefined;
}

/** Replaces what the edge engine has no operator for. Returns a copy of the graph. */
export function edgeForm(fused: Graph, statistics: CalibrationStatistics | undefined): EdgeForm {
  const graph = copyGraph(fused);
  const origins = new Map<string, string>();
  applyRules(graph, [repeatedHeadsRule(origins), meanOfTokensRule], new Trace(), new Questions());
  return { graph, statistics: statistics && { get: (weight) => statistics.get(origins.get(weight) ?? weight) } };
}
