import { BertEdgeError } from "../../artifact/error.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { countFused } from "../fusions/fused-operators.ts";
import { type ExcusedParts, excusedParts, unfusedParts } from "../fusions/unfused-parts.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { integerMatMuls } from "../quantize/qdq/integer-matmuls.ts";
import type { UnfusedReason } from "../rewrite/trace.ts";
import type { Stage } from "./stage.ts";

interface FuseInput {
  readonly graph: Graph;
  /** Whether to refuse a graph that cannot be fused completely. Default false. */
  readonly complete?: boolean;
  /** Whether to turn the MatMuls of an already quantized model into integer operators. Default false. */
  readonly keepIntegers?: boolean;
}

export interface Fused {
  readonly graph: Graph;
  readonly nodes: { readonly before: number; readonly after: number };
  /** Number of fused operators by name. */
  readonly fused: Record<string, number>;
  /** Why parts of the graph are not fused; empty if everything is fused that onnxruntime has an operator for. */
  readonly reasons: UnfusedReason[];
  /** Parts that onnxruntime has no operator for. */
  readonly excused: ExcusedParts[];
}

/**
 * Rewrites a copy of a graph into fused operators.
 *
 * @throws BertEdgeError `fusion_incomplete` when `complete` is set and a part of the graph is not fused
 */
export const fuse: Stage<FuseInput, Fused> = {
  name: "fuse",
  describe: () => "fuse the graph",
  async run({ graph: original, complete = false, keepIntegers = false }) {
    const copy = copyGraph(original);
    const reasons = unfusedParts(copy, await fuseGraph(copy));
    const excused = excusedParts(copy);
    if (complete && reasons[0]) throw incomplete(reasons[0]);
    const graph = keepIntegers ? await integerMatMuls(copy) : copy;
    const nodes = { before: original.nodes.size, after: graph.nodes.size };
    return { graph, nodes, fused: countFused(graph), reasons, excused };
  },
  report: ({ nodes, fused, reasons, excused }) => ({
    nodesBefore: nodes.before,
    nodesAfter: nodes.after,
    ...fused,
    unfused: reasons.length,
    excused: excused.reduce((sum, parts) => sum + parts.nodes.length, 0),
  }),
};

const incomplete = ({ pattern, node, why }: UnfusedReason) =>
  new BertEdgeError("fusion_incomplete", `${pattern} at ${node} could not be fused: ${why}.`, {
    hint: "Report the model, with its config.json.",
  });
