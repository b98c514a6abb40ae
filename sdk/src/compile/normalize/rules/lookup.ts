import { isStatic } from "../../graph/dim.ts";
import { int, type Node } from "../../graph/node.ts";
import { elementCount, int64s, numbersOf, type Tensor } from "../../graph/tensor.ts";
import { any, bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { knownNumbers, normalizeAxis } from "../../shapes/shape-rule.ts";

/**
 * Replaces a MatMul of one-hot rows by a lookup: MatMul(OneHot(indices), table) = Gather(table, indices). TensorFlow
 * looks up small tables in this way.
 */
export const oneHotLookupRule: Rule = rule("one-hot lookup", {
  roots: ["MatMul"],
  pattern: op("MatMul", [
    bind("hot", op("OneHot", [any("indices"), any("depth"), constant("values")])),
    constant("table"),
  ]),
  rewrite({ root, value, tensor, add }) {
    const node = value("hot").producer;
    const rank = value("hot").shape?.length ?? 0;
    const [rows] = value("table").shape ?? [];
    const [off, on] = numbersOf(tensor("values"));
    const isLast = rank > 0 && normalizeAxis(node?.int("axis") ?? -1, rank) === rank - 1;
    if (!isLast || off !== 0 || on !== 1 || knownNumbers(value("depth"))?.[0] !== rows) {
      return refuse("OneHot does not select rows of the table", root);
    }
    return add("Gather", [value("table"), value("indices")], { attributes: { axis: int(0) } }).output;
  },
});

/**
 * Looks up rows of a quantized table before dequantizing them: Gather(DequantizeLinear(table), ids) =
 * DequantizeLinear(Gather(table, ids)). Otherwise, every run would dequantize the whole table.
 */
export const dequantizedLookupRule: Rule = rule("dequantized lookup", {
  roots: ["Gather"],
  pattern: op("Gather", [bind("table", op("DequantizeLinear", [constant("rows")]))]),
  shared: ["table"],
  check: ({ root: { inputs } }) => inputs[1] && !inputs[1].isConstant && { ids: inputs[1] },
  rewrite({ root, value, add }, { ids }) {
    const [, scale, zero] = value("table").producer?.inputs ?? [];
    if (scale?.constant?.shape.length !== 0) return refuse("the scale of the table is not a constant scalar", root);
    const rows = add("Gather", [value("rows"), ids], { attributes: root.attributes }).output;
    return add("DequantizeLinear", zero ? [rows, scale, zero] : [rows, scale]).output;
  },
});

/**
 * Replaces a Gather or GatherND by a Reshape, if it takes every element once and in order. PyTorch's exporters write masks of a
 * fixed size in this way.
 */
export const wholeGatherRule: Rule = rule("whole gather", {
  roots: ["Gather", "GatherND"],
  check({ root }) {
    const [x, indices] = root.inputs;
    const { shape } = root.output;
    if (!x || x.isConstant || !isStatic(x.shape) || !indices?.constant || !isStatic(shape)) return undefined;
    const takesAll = elementCount(x.shape) === elementCount(shape) && takesInOrder(root, x.shape, indices.constant);
    return takesAll && { x, shape };
  },
  rewrite: ({ root, add, constant }, { x, shape }) =>
    add("Reshape", [x, constant(`${root.origin}/shape`, int64s(...shape))]).output,
});

/** Maximum number of indices. Masks have one for each token. */
const MAX_INDICES = 1 << 16;

/** Whether a node takes all elements of a tensor with this shape in order. */
function takesInOrder(node: Node, shape: readonly number[], at: Tensor): boolean {
  if (elementCount(at.shape) > MAX_INDICES) return false;
  const indices = numbersOf(at);
  if (node.is("Gather")) {
    const size = shape[normalizeAxis(node.int("axis") ?? 0, shape.length)];
    return indices.length === size && indices.every((index, i) => index === i);
  }
  const rank = shape.length;
  if (at.shape.at(-1) !== rank || (node.int("batch_dims") ?? 0) !== 0) return false;
  const places = Array.from({ length: indices.length / rank }, (_, i) =>
    shape.reduce((place, size, axis) => place * size + (indices[i * rank + axis] as number), 0),
  );
  const inRange = indices.every((index, i) => index >= 0 && index < (shape[i % rank] as number));
  return inRange && places.every((place, i) => place === i);
}
