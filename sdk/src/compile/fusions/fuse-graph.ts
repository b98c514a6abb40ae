import type { Graph } from "../graph/graph.ts";
import { normalizeGraph } from "../normalize/normalize-graph.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { Questions } from "../rewrite/questions.ts";
import type { Rule } from "../rewrite/rule.ts";
import { Trace } from "../rewrite/trace.ts";
import { attentionFusion, standardAttentionFusion } from "./rules/attention.ts";
import { embedLayerNormalizationFusion } from "./rules/embed-layer-normalization.ts";
import { biasGeluFusions, fastGeluFusion, geluFusion, quickGeluFusion, tanhGeluFusion } from "./rules/gelu.ts";
import { layerNormalizationFusion, rmsNormalizationFusion } from "./rules/normalization.ts";
import { rotaryEmbeddingFusion, standardRotaryEmbeddingFusion } from "./rules/rotary-embedding.ts";
import { skipNormalizationFusions } from "./rules/skip-normalization.ts";

/** The fusions, in stages. The rules of a stage are applied until none matches; then the graph is normalized again. */
const fusions: readonly (readonly Rule[])[] = [
  [
    layerNormalizationFusion,
    geluFusion,
    fastGeluFusion,
    tanhGeluFusion,
    quickGeluFusion,
    rotaryEmbeddingFusion,
    standardRotaryEmbeddingFusion,
  ],
  // RMSNorm is matched after LayerNormalization, because LayerNormalization contains RMSNorm of x − mean(x).
  [rmsNormalizationFusion, attentionFusion, standardAttentionFusion, embedLayerNormalizationFusion],
  [...biasGeluFusions, ...skipNormalizationFusions],
];

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
