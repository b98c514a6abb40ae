import { weightColumns } from "../fusions/attention/head-columns.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { numbersOf } from "../graph/tensor.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { any, constant, op } from "../rewrite/pattern.ts";
import { Questions } from "../rewrite/questions.ts";
import { type Rule, rule } from "../rewrite/rule.ts";
import { Trace } from "../rewrite/trace.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";

interface Repeated {
  readonly graph: Graph;
  /** Activation statistics of the layers with repeated weights, too. */
  readonly statistics: CalibrationStatistics | undefined;
}

/**
 * Repeats heads of keys and values in the weights of their linear layers, instead of after the layers. The edge engine has
 * no operator for the latter. Returns a copy of the graph.
 */
export function withRepeatedWeights(fused: Graph, statistics: CalibrationStatistics | undefined): Repeated {
  const graph = copyGraph(fused);
  const origins = new Map<string, string>();
  applyRules(graph, [repeatedHeadsRule(origins)], new Trace(), new Questions());
  return { graph, statistics: statistics && { get: (weight) => statistics.get(origins.get(weight) ?? weight) } };
}

/** @param origins receives the name of the original weight for each repeated weight */
const repeatedHeadsRule = (origins: Map<string, string>): Rule =>
  rule("repeated heads", {
    roots: ["Reshape"],
    pattern: op("Reshape", [
      op("Gather", [op("Reshape", [any("source")]), constant("heads")], { where: (node) => node.int("axis") === 2 }),
    ]),
    rewrite(rewrite) {
      const { root, value } = rewrite;
      const [source, heads] = [value("source"), numbersOf(value("heads").constant as NonNullable<Value["constant"]>)];
      const size = Number(root.output.shape?.at(-1)) / heads.length;
      if (source.shape?.length !== 3 || root.output.shape?.length !== 3 || !Number.isInteger(size)) return undefined;
      const columns = heads.flatMap((head) => Array.from({ length: size }, (_, i) => head * size + i));
      const selected = weightColumns(rewrite, { source, columns, size });
      const [before, after] = [source, selected].map((value) => layerBefore(value)?.inputs[1]?.name);
      if (before && after) origins.set(after, before);
      return selected;
    },
  });

/** Finds the MatMul before a bias or a rotation. */
function layerBefore(value: Value | undefined): Node | undefined {
  const node = value?.producer;
  return node?.is("MatMul") ? node : node && layerBefore(node.inputs.find((input) => input && !input.isConstant));
}
