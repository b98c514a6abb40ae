import { int } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import type { HeadLayout } from "../../layout/heads.ts";
import type { Rewrite } from "../../rewrite/rule.ts";
import { gatherColumns, linearLayerOf } from "./linear-layer.ts";

/** The heads' columns as a tensor [batch, sequence, heads · size] of their own. */
export function headColumns(rewrite: Rewrite, { source, columns }: HeadLayout): Value {
  const { root, add, constant } = rewrite;
  if (columns.length === source.shape?.at(-1) && columns.every((column, i) => column === i)) return source;
  const dense = linearLayerOf(source);
  if (!dense) {
    const indices = constant(`${root.origin}/columns`, int64s(...columns));
    return add("Gather", [source, indices], { attributes: { axis: int(-1) } }).output;
  }
  const product = add("MatMul", [
    dense.x,
    constant(`${root.origin}/weight`, gatherColumns([{ from: dense.weight, columns }])),
  ]).output;
  if (!dense.bias) return product;
  return add("Add", [product, constant(`${root.origin}/bias`, gatherColumns([{ from: dense.bias, columns }]))]).output;
}
