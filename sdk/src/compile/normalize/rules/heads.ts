import { sameDim } from "../../graph/dim.ts";
import { ints, type Value } from "../../graph/node.ts";
import { isView } from "../../graph/operators.ts";
import { elementCount, int64s, reshaped } from "../../graph/tensor.ts";
import { movementSources } from "../../layout/index-map.ts";
import { any, bind, constant, oneOf, op, sum } from "../../rewrite/pattern.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { reshapeTarget } from "./shape.ts";

/**
 * Attention of opset 23 can split its inputs into heads and merge the result. This rule adds separate nodes for both:
 * Attention on [batch, sequence, heads · size] = merge(Attention on [batch, heads, sequence, size]).
 */
export const attentionHeadsRule: Rule = rule("attention heads", {
  roots: ["Attention"],
  check({ root }) {
    const [q, k, v, ...others] = root.inputs;
    const { q_num_heads: queries, kv_num_heads: keys, ...attributes } = root.attributes;
    const isFlat = [q, k, v].every((value) => value?.shape?.length === 3);
    if (!q || !k || !v || !isFlat || queries?.kind !== "int" || keys?.kind !== "int") return undefined;
    const inputs = [
      [q, queries.value],
      [k, keys.value],
      [v, keys.value],
    ] as const;
    return { inputs, others, attributes };
  },
  rewrite(rewrite, { inputs, others, attributes }) {
    const { root, add, constant } = rewrite;
    if (root.outputs.length > 1) return refuse("Attention also returns keys, values or scores", root);
    const heads = inputs.map(([value, count]) => split(rewrite, value, count));
    const context = add("Attention", [...heads, ...others], { attributes }).output;
    const moved = add("Transpose", [context], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
    return add("Reshape", [moved, constant(`${root.origin}/joined`, int64s(0, 0, -1))]).output;
  },
});

function split({ root, add, constant }: Rewrite, value: Value, heads: number): Value {
  const perHead = add("Reshape", [value, constant(`${root.origin}/heads`, int64s(0, 0, heads, -1))]).output;
  return add("Transpose", [perHead], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
}

const [reshape, scale] = [op("Reshape", [any("x")]), constant("scale")];

/**
 * Adds a bias before the Reshape that splits heads, instead of after it:
 * Reshape(x: […, h · d] → […, h, d]) · c + b: [h, d] = Reshape(x · c + b: [h · d]).
 *
 * Some exporters store weights and biases per head. Others scale queries before they add a bias.
 */
export const biasBeforeHeadsRule: Rule = rule("bias before heads", {
  roots: ["Add"],
  pattern: sum(
    bind("heads", oneOf(reshape, op("Mul", [reshape, scale]), op("Mul", [scale, reshape]))),
    constant("bias"),
  ),
  shared: ["heads"],
  check({ value, tensor }) {
    const [from = [], to = []] = [value("x").shape, value("heads").shape];
    const { shape } = tensor("bias");
    const [h, d] = to.slice(-2);
    if (typeof h !== "number" || typeof d !== "number" || h === 1) return undefined;
    const splitsHeads =
      from.length === to.length - 1 &&
      from.at(-1) === h * d &&
      from.slice(0, -1).every((dim, i) => sameDim(dim, to[i]));
    return splitsHeads && elementCount(shape) === h * d && shape.at(-1) === d && { width: h * d, from, to };
  },
  rewrite({ value, maybe, root, add, constant, tensor }, { width, from, to }) {
    const target = reshapeTarget(from, to);
    if (!target) return refuse("the Reshape that splits heads has more than one open size", root);
    const scale = maybe("scale");
    const sizes = scale?.constant?.shape ?? [];
    if (elementCount(sizes) !== 1 || sizes.length > from.length)
      return refuse("the heads are multiplied by more than one number", root);
    const scaled = scale ? add("Mul", [value("x"), scale]).output : value("x");
    const flat = constant(`${root.name}/bias`, reshaped(tensor("bias"), [width]));
    return add("Reshape", [add("Add", [scaled, flat]).output, constant(`${root.name}/heads`, target)]).output;
  },
});

const floats: readonly (string | undefined)[] = ["float16", "bfloat16", "float32"];

/**
 * Casts floats before they are moved: Cast(Transpose(x)) = Transpose(Cast(x)). Models in half precision cast heads, for
 * example to rotate them in float32. With this rule, heads are split from the cast result of the linear layer.
 */
export const castBeforeMovementRule: Rule = rule("cast before movement", {
  roots: ["Cast"],
  check({ graph, root }) {
    const [moved] = root.inputs;
    const movement = moved?.producer;
    const [x, ...others] = movement?.inputs ?? [];
    if (!movement || !x || x.isConstant) return undefined;
    if (!floats.includes(x.dtype) || !floats.includes(root.output.dtype)) return undefined;
    // A cast of an attention result stays after the merge of the heads, because fused attention includes the merge.
    const origin = movementSources(moved).at(-1)?.producer;
    if (origin?.is("MatMul") && origin.inputs.every((input) => !input?.isConstant)) return undefined;
    // A selection of texts or tokens stays before the cast, so that fewer elements are cast. A selection of columns is moved, because
    // a fusion can then remove the other columns from the weight matrix.
    const selectsColumns =
      /^(Slice|Gather)$/.test(movement.opType) &&
      [0, 1].every((axis) => sameDim(x.shape?.[axis] ?? 0, moved.shape?.[axis] ?? 1));
    // If other nodes also read the moved value, the movement is added a second time. This costs nothing only for a view.
    const isRead = moved.users.size > 1 || graph.isOutput(moved);
    if (!isView(movement) && (isRead || !(movement.is("Transpose") || selectsColumns))) return undefined;
    return { movement, x, others };
  },
  rewrite({ root, add }, { movement, x, others }) {
    const cast = add("Cast", [x], { attributes: root.attributes }).output;
    return add(movement.opType, [cast, ...others], { attributes: movement.attributes }).output;
  },
});
