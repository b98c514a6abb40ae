import { int } from "../../graph/attribute.ts";
import { sameDim } from "../../graph/dim.ts";
import { MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import type { HeadLayout } from "../../layout/heads.ts";
import type { Rewrite } from "../../rewrite/rule.ts";
import { gatherColumns, projectionOf } from "./projection.ts";

/**
 * Selects the heads' columns from the tensor that was split into heads. Returns [batch, sequence, heads · size].
 *
 * A selection from a linear layer or from rotated heads becomes a selection of the layer's weights. Grouped-query
 * attention selects heads of keys and values several times, because fused operators need one for each head of queries.
 */
export function headColumns(rewrite: Rewrite, layout: HeadLayout): Value {
  const { source, columns } = layout;
  const { root, add, constant } = rewrite;
  if (columns.length === source.shape?.at(-1) && columns.every((column, i) => column === i)) return source;
  const rotation = source.producer;
  const [rotated, ...tables] = rotation?.inputs ?? [];
  if (rotation && rotated && rotatesHeads(rotation, layout)) {
    const inputs = [headColumns(rewrite, { ...layout, source: rotated }), ...tables];
    return add("RotaryEmbedding", inputs, { domain: MICROSOFT, attributes: rotation.attributes }).output;
  }
  const layer = projectionOf(source);
  if (!layer) {
    const indices = constant(`${root.origin}/columns`, int64s(...columns));
    return add("Gather", [source, indices], { attributes: { axis: int(-1) } }).output;
  }
  const projected = add("MatMul", [
    layer.x,
    constant(`${root.origin}/weight`, gatherColumns([{ from: layer.weight, columns }])),
  ]).output;
  if (!layer.bias) return projected;
  return add("Add", [projected, constant(`${root.origin}/bias`, gatherColumns([{ from: layer.bias, columns }]))])
    .output;
}

/** Whether a node rotates each of its heads alone, and `columns` selects whole heads. */
export function rotatesHeads(node: Node, { columns, size }: HeadLayout): boolean {
  if (!node.is("RotaryEmbedding", MICROSOFT) || (node.int("num_heads") ?? 0) !== 0) return false;
  const isWhole = columns.every(
    (column, i) => column % size === i % size && column - (i % size) === columns[i - (i % size)],
  );
  return isWhole && sameDim(node.inputs[2]?.shape?.at(-1), size / 2);
}
