import { weightColumns } from "../fusions/attention/head-columns.ts";
import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { int, ints, type Node, type Value } from "../graph/node.ts";
import { int64s, numbersOf } from "../graph/tensor.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { any, constant, oneOf, op, over, type Pattern, product } from "../rewrite/pattern.ts";
import { type Rewrite, type Rule, refuse, rule } from "../rewrite/rule.ts";
import type { CalibrationStatistics } from "./calibration/activation-statistics.ts";

interface EdgeForm {
  readonly graph: Graph;
  /** Activation statistics of all layers, including the layers with changed weights. */
  readonly statistics: CalibrationStatistics | undefined;
}

/** Replaces operations for which the edge engine has no operator. Returns a copy of the graph. */
export function edgeForm(fused: Graph, statistics: CalibrationStatistics | undefined): EdgeForm {
  const graph = copyGraph(fused);
  const origins = new Map<string, string>();
  applyRules(graph, [repeatedHeadsRule(origins), meanOfTokensRule]);
  return { graph, statistics: statistics && { get: (weight) => statistics.get(origins.get(weight) ?? weight) } };
}

/**
 * Repeats heads of keys and values in the weights of their linear layers. The original graph repeats them after the layers, but
 * the edge engine has no operator for this.
 *
 * @param origins receives the name of the original weight for each repeated weight
 */
const repeatedHeadsRule = (origins: Map<string, string>): Rule =>
  rule("repeated heads", {
    roots: ["Reshape"],
    pattern: op("Reshape", [
      op("Gather", [op("Reshape", [any("source")]), constant("heads")], { where: (node) => node.int("axis") === 2 }),
    ]),
    check({ root, value, tensor }) {
      const heads = numbersOf(tensor("heads"));
      const size = Number(root.output.shape?.at(-1)) / heads.length;
      const isFlat = value("source").shape?.length === 3 && root.output.shape?.length === 3;
      return isFlat && Number.isInteger(size) && { heads, size };
    },
    rewrite(rewrite, { heads, size }) {
      const source = rewrite.value("source");
      const columns = heads.flatMap((head) => Array.from({ length: size }, (_, i) => head * size + i));
      const selected = weightColumns(rewrite, { source, columns, size });
      const [before, after] = [source, selected].map((value) => layerBefore(value)?.inputs[1]?.name);
      if (before && after) origins.set(after, before);
      return selected ?? refuse("its heads are not computed by a linear layer", rewrite.root);
    },
  });

/** Finds the MatMul before a bias or a rotation. */
function layerBefore(value: Value | undefined): Node | undefined {
  const node = value?.producer;
  return node?.is("MatMul") ? node : node && layerBefore(node.inputs.find((input) => input && !input.isConstant));
}

const mask = any("mask");
const count = op("ReduceSum", [mask, constant("counted")]);
/** Matches a value to which an axis for the width is added. */
const column = (pattern: Pattern): Pattern =>
  oneOf(op("Unsqueeze", [pattern, constant("last")]), op("Reshape", [pattern, constant("shape")]));

/** Matches the mean over tokens. Graphs of bert-edge divide the mask before the sum. Exports of transformers divide the sum. */
const pattern = oneOf(
  op("ReduceSum", [product(any("x"), column(product(mask, over(count)))), constant("axes")]),
  product(op("ReduceSum", [product(any("x"), column(mask)), constant("axes")]), over(count)),
);

/**
 * Replaces the mean over all tokens except padding by the mean over all tokens. The edge engine runs each text alone, so there
 * is no padding. If linear layers compute the tensor, their input is averaged instead: the mean of x · W + b is mean(x) · W + b.
 */
const meanOfTokensRule: Rule = rule("mean of tokens", {
  roots: ["ReduceSum", "Div"],
  pattern,
  shared: ["mask", "x"],
  check({ graph, root, value, tensor }) {
    const cast = value("mask").producer;
    const shown = cast?.is("Cast") ? cast.inputs[0] : value("mask");
    const isMask = shown?.name === "attention_mask" && graph.inputs.includes(shown);
    const axes = numbersOf(tensor("axes"));
    const isMean = value("x").shape?.length === 3 && root.output.shape?.length === 2 && axes.join() === "1";
    return isMask && isMean;
  },
  rewrite: (rewrite) => meanOf(rewrite, rewrite.value("x")),
});

function meanOf(rewrite: Rewrite, x: Value): Value {
  const { add, constant, graph, root } = rewrite;
  const [input, weights] = x.producer?.inputs ?? [];
  if (input && weights?.isConstant && x.producer?.is("MatMul"))
    return add("MatMul", [meanOf(rewrite, input), weights]).output;
  if (input && weights?.constant?.shape.length === 1 && x.producer?.is("Add"))
    return add("Add", [meanOf(rewrite, input), weights]).output;
  const keepdims = int(0);
  // Since opset 18, the axes are an input.
  if ((graph.opsets.get("") ?? 1) < 18)
    return add("ReduceMean", [x], { attributes: { axes: ints(1), keepdims } }).output;
  return add("ReduceMean", [x, constant(`${root.origin}/tokens`, int64s(1))], { attributes: { keepdims } }).output;
}
