import { foldConstants } from "../evaluate/fold-constants.ts";
import type { Graph } from "../graph/graph.ts";
import { verify } from "../graph/verify.ts";
import { applyRules } from "../rewrite/driver.ts";
import type { Questions } from "../rewrite/questions.ts";
import type { Rule } from "../rewrite/rule.ts";
import type { Trace } from "../rewrite/trace.ts";
import { inferShapes } from "../shapes/infer.ts";
import { attentionHeads } from "./attention-heads.ts";
import { biasBeforeHeads } from "./bias-before-heads.ts";
import { mergeCommonSubexpressions } from "./common-subexpressions.ts";
import { einsum } from "./einsum.ts";
import { einsumProducts } from "./einsum-products.ts";
import { flattened } from "./flattened.ts";
import { gemm } from "./gemm.ts";
import { lastAxis } from "./last-axis.ts";
import { moved } from "./moved.ts";
import { noOps } from "./no-ops.ts";
import { oneHotLookup } from "./one-hot-lookup.ts";
import { reshapes } from "./reshapes.ts";
import { select } from "./select.ts";
import { sizes } from "./sizes.ts";
import { transposedProducts } from "./transposed-products.ts";
import { transposes } from "./transposes.ts";

const rules: readonly Rule[] = [
  noOps,
  sizes,
  reshapes,
  transposes,
  transposedProducts,
  gemm,
  einsum,
  einsumProducts,
  attentionHeads,
  select,
  oneHotLookup,
  biasBeforeHeads,
  flattened,
  moved,
  lastAxis,
];

/** Three are usual. */
const MAX_ROUNDS = 16;

/** Takes out what exporters differ in, so that a fusion needs one short pattern instead of one per exporter. */
export async function normalize(graph: Graph, trace: Trace, questions: Questions): Promise<void> {
  // Known sizes make constants, and constants make more sizes known.
  let before = -1;
  for (let round = 0; round < MAX_ROUNDS && before !== graph.nodes.size; round++) {
    before = graph.nodes.size;
    inferShapes(graph);
    mergeCommonSubexpressions(graph);
    await foldConstants(graph);
    applyRules(graph, rules, trace, questions);
  }
  inferShapes(graph);
  mergeCommonSubexpressions(graph);
  verify(graph);
}
