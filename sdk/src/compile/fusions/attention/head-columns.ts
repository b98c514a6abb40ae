import { int } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import type { HeadLayout } from "../../layout/heads.ts";
import type { Rewrite } from "../../rewrite/rule.ts";
import { gatherColumns, projectionOf } from "./projection.ts";

/**
 * Selects the heads' columns from the tensor that was split into heads. Returns [batch, sequence, heads · size].
 *
 * Columns of a linear layer become a layer with fewer weights, also if its output is cast.
 */
export function headColumns(rewrite: Rewrite, layout: HeadLayout): Value {
  const { source, columns } = layout;
  const { root, add, constant } = rewrite;
  if (columns.length === source.shape?.at(-1) && columns.every((column, i) => column === i)) return source;
  const [uncast] = source.producer?.is("Cast") ? source.producer.inputs : [];
  if (uncast) {
    const selected = headColumns(rewrite, { ...layout, source: uncast });
    return add("Cast", [selected], { attributes: source.producer?.attributes ?? {} }).output;
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
