import { gatherColumns } from "../../fusions/attention/projection.ts";
import type { Graph } from "../../graph/graph.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";

/**
 * Supported attributes of Attention. MultiHeadAttention has the same attributes, except qkv_hidden_sizes, which
 * determines where `unpackAttention` slices the weights.
 */
const supported = new Set(["num_heads", "scale", "mask_filter_value", "unidirectional", "qkv_hidden_sizes"]);

/**
 * Rewrites Attention(x, [Wq Wk Wv], [bq bk bv], mask) as MultiHeadAttention(x · Wq + bq, x · Wk + bk, x · Wv + bv, mask).
 *
 * @returns undefined for attention with computed weights, without bias, with past keys, or with a mask that is not
 *   [batch, keys]
 */
export function unpackAttention(graph: Graph, { name, inputs, outputs, attributes }: Node): Value | undefined {
  const [x, weight, bias, mask, past, scoreBias, ...others] = inputs;
  const [matrix, vector] = [weight?.constant, bias?.constant];
  const isSupported = !past && !others.some((input) => input) && !outputs[1] && (!mask || mask.shape?.length === 2);
  const isKnown = Object.keys(attributes).every((attribute) => supported.has(attribute));
  if (matrix?.dtype !== "float32" || matrix.shape.length !== 2 || !vector || !isSupported || !isKnown) return undefined;

  const { qkv_hidden_sizes: sizes, ...shared } = attributes;
  const third = (matrix.shape[1] ?? 0) / 3;
  const widths = sizes?.kind === "ints" ? sizes.value : [third, third, third];
  const parts = ["q", "k", "v"].map((part, i) => {
    const start = widths.slice(0, i).reduce((sum, width) => sum + width, 0);
    const columns = Array.from({ length: widths[i] ?? 0 }, (_, column) => start + column);
    const slice = graph.constant(`${weight?.name}.${part}`, gatherColumns([{ from: matrix, columns }]));
    const matMul = graph.add("MatMul", [x, slice], { name: `${name}.${part}`, origin: name }).output;
    const offset = graph.constant(`${bias?.name}.${part}`, gatherColumns([{ from: vector, columns }]));
    return graph.add("Add", [matMul, offset], { name: `${name}.${part}.biased` }).output;
  });
  const all = [...parts, undefined, mask, scoreBias];
  return graph.add("MultiHeadAttention", all, { name, domain: MICROSOFT, attributes: shared }).output;
}
