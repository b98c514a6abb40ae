import { sameDim } from "../../graph/dim.ts";
import { int, MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import type { HeadLayout } from "../../layout/heads.ts";
import type { Rewrite } from "../../rewrite/rule.ts";
import { gatherColumns, projectionOf } from "./projection.ts";

type Columns = Pick<HeadLayout, "source" | "columns" | "size">;

/** Selects the heads' columns from the tensor that was split into heads. Returns [batch, sequence, heads · size]. */
export function headColumns(rewrite: Rewrite, layout: Columns): Value {
  const { source, columns, size } = layout;
  const { root, add, constant } = rewrite;
  if (columns.length === source.shape?.at(-1) && columns.every((column, i) => column === i)) return source;
  const repeated =
    repeatsHeads(layout) &&
    repeatedHeads(
      rewrite,
      source,
      columns.filter((_, i) => i % size === 0),
      size,
    );
  if (repeated) return repeated;
  const selected = weightColumns(rewrite, layout);
  if (selected) return selected;
  const indices = constant(`${root.origin}/columns`, int64s(...columns));
  return add("Gather", [source, indices], { attributes: { axis: int(-1) } }).output;
}

/**
 * Whether the layout selects a head several times. In grouped-query attention, several query heads share a head of keys and
 * values, but fused operators need one for each query head.
 */
export const repeatsHeads = (layout: Columns): boolean =>
  isOfWholeHeads(layout) && new Set(layout.columns).size < layout.columns.length;

/** Repeats heads after the linear layer, which is faster than a larger layer. `starts` has the first column of each head. */
function repeatedHeads(
  { root, add, constant }: Rewrite,
  source: Value,
  starts: readonly number[],
  size: number,
): Value {
  const split = add("Reshape", [source, constant(`${root.origin}/heads`, int64s(0, 0, -1, size))]).output;
  const indices = constant(`${root.origin}/repeated`, int64s(...starts.map((column) => column / size)));
  const repeated = add("Gather", [split, indices], { attributes: { axis: int(2) } }).output;
  return add("Reshape", [repeated, constant(`${root.origin}/joined`, int64s(0, 0, starts.length * size))]).output;
}

/**
 * Selects columns of the weights of the linear layer that computes a tensor. Between the layer and the tensor, heads may be
 * rotated or cast.
 *
 * @returns undefined if no linear layer computes the tensor
 */
export function weightColumns(rewrite: Rewrite, layout: Columns): Value | undefined {
  const { source, columns } = layout;
  const { root, add, constant } = rewrite;
  const before = source.producer;
  const [x, ...tables] = before?.inputs ?? [];
  if (before && x && rotatesHeads(before, layout)) {
    const selected = weightColumns(rewrite, { ...layout, source: x });
    const options = { domain: MICROSOFT, attributes: before.attributes };
    return selected && add("RotaryEmbedding", [selected, ...tables], options).output;
  }
  if (before?.is("Cast") && x) {
    const selected = weightColumns(rewrite, { ...layout, source: x });
    return selected && add("Cast", [selected], { attributes: before.attributes }).output;
  }
  const layer = projectionOf(source);
  if (!layer) return undefined;
  const projected = add("MatMul", [
    layer.x,
    constant(`${root.origin}/weight`, gatherColumns([{ from: layer.weight, columns }])),
  ]).output;
  if (!layer.bias) return projected;
  return add("Add", [projected, constant(`${root.origin}/bias`, gatherColumns([{ from: layer.bias, columns }]))])
    .output;
}

/** Whether a node rotates each head on its own, and the layout selects whole heads. */
const rotatesHeads = (node: Node, layout: Columns): boolean =>
  node.is("RotaryEmbedding", MICROSOFT) &&
  (node.int("num_heads") ?? 0) === 0 &&
  sameDim(node.inputs[2]?.shape?.at(-1), layout.size / 2) &&
  isOfWholeHeads(layout);

const isOfWholeHeads = ({ columns, size }: Columns): boolean =>
  columns.every((column, i) => column % size === i % size && column - (i % size) === columns[i - (i % size)]);

/**
 * Converts queries and keys that are rotated in pairs of neighbors. The result is rotated in halves, because the edge engine
 * rotates only halves. Reorders the columns of both weights in the same way, so that the scores do not change: each
 * head then has the first elements of all its pairs, followed by the second elements.
 *
 * @returns undefined if queries or keys are not rotated in pairs, or if no linear layer computes the rotated tensor
 */
export function halvedRotations(
  rewrite: Rewrite,
  queries: HeadLayout,
  keys: HeadLayout,
): readonly [q: Value, k: Value] | undefined {
  if (![queries, keys].every(isPaired)) return undefined;
  const [q, k] = [queries, keys].map((layout) => {
    const { inputs = [], attributes = {} } = layout.source.producer ?? {};
    const { interleaved, ...others } = attributes;
    const [rotated, ...tables] = inputs;
    const columns = layout.columns.map((_, i) => layout.columns[beforeHalving(i, layout.size)] as number);
    const moved = headColumns(rewrite, { ...layout, source: rotated as Value, columns });
    return rewrite.add("RotaryEmbedding", [moved, ...tables], { domain: MICROSOFT, attributes: others }).output;
  });
  return q && k && [q, k];
}

function isPaired(layout: HeadLayout): boolean {
  const { producer: node } = layout.source;
  const [rotated] = node?.inputs ?? [];
  return (
    node?.int("interleaved") === 1 &&
    rotatesHeads(node, layout) &&
    rotated !== undefined &&
    projectionOf(rotated) !== undefined
  );
}

/** Returns the original place of the element that moves to place `i`. In each head, these are 0 2 4 … 1 3 5 …. */
function beforeHalving(i: number, size: number): number {
  const [start, at] = [i - (i % size), i % size];
  return start + (at < size / 2 ? 2 * at : 2 * at - size + 1);
}
