import { sameDim, sameShape } from "../../graph/dim.ts";
import { type Attribute, float, int, ints, MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { type DataType, elementCount, elementSize, int64s, type Tensor } from "../../graph/tensor.ts";
import { type HeadLayout, mergedHeads, splitHeads } from "../../layout/heads.ts";
import { movementSources } from "../../layout/index-map.ts";
import { reshapedTo } from "../../normalize/rules/shape.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { Refusal, type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { type AttentionMask, attentionMask } from "../attention/attention-mask.ts";
import { type AttentionScores, attentionScores, type ScoreMask } from "../attention/attention-scores.ts";
import { halvedRotations, headColumns, repeatsHeads } from "../attention/head-columns.ts";
import { gatherColumns, type Projection, projectionOf } from "../attention/projection.ts";

// Attention(x) = softmax(scale · q · kᵀ + mask) · v  for every head, with (q, k, v) = x · W + b
//
// https://arxiv.org/abs/1706.03762, section 3.2. If q, k and v are linear layers on one tensor, the result is Attention with
// packed weights. Otherwise (rotary, quantized or cross-attention) it is MultiHeadAttention.

export const attentionFusion: Rule = rule("Attention", {
  roots: ["MatMul"],
  check({ graph, root }) {
    const [probabilities, v] = root.inputs;
    const scores = probabilities && attentionScores(probabilities, graph.opsets.get("") ?? 1);
    return scores && v && { scores, v };
  },
  rewrite: (rewrite, { scores, v }) => (scores instanceof Refusal ? scores : fuse(rewrite, scores, v)),
});

/**
 * Replaces the standard Attention operator (opset 23), whose inputs are [batch, heads, sequence, size]. The standard
 * operator returns 0 for a query whose keys are all hidden.
 */
export const standardAttentionFusion: Rule = rule("Attention", {
  roots: ["Attention"],
  rewrite(rewrite) {
    const { root } = rewrite;
    const [q, k, v, mask, ...past] = root.inputs;
    const size = q?.shape?.at(-1);
    if (!q || !k || !v || q.shape?.length !== 4 || typeof size !== "number")
      return refuse("the inputs of Attention are not [batch, heads, sequence, size] with a fixed size", root);
    if (root.int("is_causal") === 1) return refuse("Attention is causal", root);
    if ((root.float("softcap") ?? 0) !== 0 || past.some((input) => input) || root.outputs[1]) {
      return refuse("Attention uses softcap or past keys and values", root);
    }
    const scale = root.float("scale") ?? 1 / Math.sqrt(size);
    const masking = maskingOf(root, mask);
    return fuse(rewrite, { q, k, transposed: false, scale, masking, zeroing: [], guarded: true, nodes: [] }, v);
  },
});

/** Converts the mask input. A boolean mask selects scores; a float mask is added to them. */
function maskingOf(node: Node, mask: Value | undefined): readonly ScoreMask[] {
  if (!mask) return [];
  if (mask.dtype === "bool")
    return [{ kind: "select", condition: mask, kept: 1, fill: Number.NEGATIVE_INFINITY, node }];
  return [{ kind: "add", value: mask, factor: 1, node }];
}

function fuse(rewrite: Rewrite, scores: AttentionScores, v: Value) {
  const { graph, root } = rewrite;
  const context = root.output;
  const shared = sharedNode(rewrite, scores, context);
  if (shared) return refuse("the scores or probabilities are also read by nodes outside the attention", shared);
  const values = splitHeads(v, false);
  const heads = {
    q: splitHeads(scores.q, false),
    k: splitHeads(scores.k, scores.transposed),
    v: values && beforeCast(values, scores.q.dtype),
  };
  if (!heads.q || !heads.k || !heads.v) {
    const name = !heads.q ? "queries" : !heads.k ? "keys" : "values";
    return refuse(`the ${name} are not split into heads in a supported way`, root);
  }
  const { q, k } = heads;
  if ([k, heads.v].some(({ source }) => source.dtype !== q.source.dtype))
    return refuse("queries, keys and values have different types", root);
  if (q.count !== k.count || q.count !== heads.v.count || q.size !== k.size)
    return refuse("queries, keys and values have different numbers or sizes of heads", root);
  if (heads.v.scale !== 1) return refuse("the values are multiplied by a constant", root);
  const merged = mergedHeads(context, q.count);
  const isRead = (value: Value) => graph.isOutput(value) || value.users.size > 1;
  const between = merged && movementSources(merged).slice(1).find(isRead);
  const mask = attentionMask(rewrite, scores, q.count, q.source.shape?.[0]);
  if (mask instanceof Refusal) return mask;

  const scale = scores.scale * q.scale * k.scale;
  // A scale of 0 cannot be written: fused operators read it as "use the default scale".
  if (!(Math.abs(scale) > 0)) return refuse(`the scale of the scores is ${scale}`, root);
  const projections = [heads.q, heads.k, heads.v].map(({ source }) => projectionOf(source));
  // A packed operator would compute a projection twice if other nodes also read it, and would compute each repeated head again.
  const packed =
    ![heads.k, heads.v].some(repeatsHeads) &&
    projections.every((dense) => dense !== undefined && dense.x === projections[0]?.x && isActivation(dense.x)) &&
    !isReadElsewhere(root, scores, [
      [scores.q, heads.q.source],
      [scores.k, heads.k.source],
      [v, heads.v.source],
    ]);
  if (mask.bias && mask.bias.dtype !== q.source.dtype)
    return refuse(`the bias on the scores is ${mask.bias.dtype}, and the queries are ${q.source.dtype}`, root);
  const computed = packed
    ? packedAttention(rewrite, [heads.q, heads.k, heads.v], projections as Projection[], mask, scale)
    : multiHeadAttention(rewrite, [heads.q, heads.k, heads.v], mask, scale);
  const fused = castTo(rewrite, computed, context.dtype);
  const output = scores.guarded && mask.bias ? withoutNan(rewrite, fused) : fused;
  // If other nodes read the heads, or the graph does not merge them, the fused output is split into heads. This costs a Transpose.
  if (!merged || between) {
    const separate = separateHeads(rewrite, output, q);
    if (!sameShape(separate.shape, context.shape))
      return refuse("the heads are not merged in a supported way, and they share an axis with the batch", root);
    return separate;
  }
  const isSameWidth = sameDim(output.shape?.at(-1), merged.shape?.at(-1));
  const result = sameShape(output.shape, merged.shape)
    ? output
    : isSameWidth && reshapedTo(rewrite, output, merged.shape, `${root.origin}/shape`);
  if (!result) return refuse("the output shape of the attention is unknown", root);
  return [[merged, result]] as const;
}

/** Leaves out a cast of the values. Exports in half precision may compute the softmax in float32, and cast the values to match. */
function beforeCast(layout: HeadLayout, dtype: DataType | undefined): HeadLayout {
  const { producer } = layout.source;
  const [uncast] = producer?.is("Cast") ? producer.inputs : [];
  return uncast && uncast.dtype === dtype ? { ...layout, source: uncast } : layout;
}

const castTo = ({ add }: Rewrite, value: Value, dtype: DataType = "float32"): Value =>
  value.dtype === dtype ? value : add("Cast", [value], { attributes: { to: int(dataTypes[dtype]) } }).output;

/** Splits [batch, sequence, heads · size] into heads: [batch, heads, sequence, size]. */
function separateHeads({ root, add, constant }: Rewrite, merged: Value, { count }: HeadLayout): Value {
  const split = add("Reshape", [merged, constant(`${root.origin}/heads`, int64s(0, 0, count, -1))]).output;
  return add("Transpose", [split], { attributes: { perm: ints(0, 2, 1, 3) } }).output;
}

/**
 * Replaces NaN by 0 in the output. If a bias is −∞ for all keys of a query, the probabilities of this query are NaN.
 * The original graph replaces this NaN in the probabilities, but a fused operator does not output the probabilities.
 */
function withoutNan({ root, add, constant }: Rewrite, context: Value): Value {
  const zero = constant(`${root.origin}/zero`, zeros(context.dtype, []));
  return add("Where", [add("IsNaN", [context]).output, zero, context]).output;
}

/** Finds a node of the attention whose output is also read by nodes outside the attention. */
function sharedNode({ graph }: Rewrite, { nodes }: AttentionScores, context: Value): Node | undefined {
  const own = new Set<Node>([...nodes, ...(context.producer ? [context.producer] : [])]);
  return nodes.find(
    ({ output }) =>
      graph.isOutput(output) ||
      [...output.users].some((user) => !own.has(user) && !user.is("Shape") && !isNanGuard(user, own)),
  );
}

const isNanGuard = (user: Node, own: ReadonlySet<Node>) =>
  user.is("IsNaN") && [...user.output.users].every((reader) => own.has(reader));

/**
 * Whether nodes outside the attention read its queries, keys or values, or a value between these and their projections.
 * Nodes that read only a shape do not count.
 */
function isReadElsewhere(
  root: Node,
  { nodes }: AttentionScores,
  parts: readonly (readonly [heads: Value, projection: Value])[],
): boolean {
  const values = parts.flatMap(([heads, projection]) => {
    const path = movementSources(heads);
    return path.slice(0, path.indexOf(projection) + 1);
  });
  const own = new Set<Node | undefined>([root, ...nodes, ...values.map(({ producer }) => producer)]);
  return values.some(({ users }) => [...users].some((user) => !own.has(user) && !user.is("Shape")));
}

const isActivation = (x: Value) => x.shape?.length === 3;

function attributesOf(heads: HeadLayout, mask: AttentionMask, scale: number): Record<string, Attribute> {
  const usual = 1 / Math.sqrt(heads.size);
  return {
    num_heads: int(heads.count),
    ...(Math.abs(scale - usual) > 1e-6 * usual && { scale: float(scale) }),
    ...(mask.fill !== undefined && { mask_filter_value: float(mask.fill) }),
  };
}

function packedAttention(
  rewrite: Rewrite,
  heads: readonly HeadLayout[],
  projections: readonly Projection[],
  mask: AttentionMask,
  scale: number,
): Value {
  const { root, add, constant } = rewrite;
  const [first] = heads as [HeadLayout, ...HeadLayout[]];
  const x = (projections[0] as Projection).x;
  const weight = gatherColumns(projections.map(({ weight: from }, i) => ({ from, columns: heads[i]?.columns ?? [] })));
  const bias = gatherColumns(
    projections.map((each, i) => ({
      from: each.bias ?? zeros(each.weight.dtype, [each.weight.shape[1] ?? 0]),
      columns: heads[i]?.columns ?? [],
    })),
  );
  const widths = heads.map(({ count, size }) => count * size);
  const node = add(
    "Attention",
    trimmed([
      x,
      constant(`${root.origin}/qkv_weight`, weight),
      constant(`${root.origin}/qkv_bias`, bias),
      mask.keys,
      undefined,
      mask.bias,
    ]),
    {
      domain: MICROSOFT,
      attributes: {
        ...attributesOf(first, mask, scale),
        ...(new Set(widths).size > 1 && { qkv_hidden_sizes: { kind: "ints" as const, value: widths } }),
      },
    },
  );
  return node.output;
}

function multiHeadAttention(rewrite: Rewrite, heads: readonly HeadLayout[], mask: AttentionMask, scale: number): Value {
  const [queries, keys, values] = heads as [HeadLayout, HeadLayout, HeadLayout];
  const [q, k] = halvedRotations(rewrite, queries, keys) ?? [headColumns(rewrite, queries), headColumns(rewrite, keys)];
  const v = headColumns(rewrite, values);
  const inputs = trimmed([q, k, v, undefined, mask.keys, mask.bias]);
  return rewrite.add("MultiHeadAttention", inputs, {
    domain: MICROSOFT,
    attributes: attributesOf(heads[0] as HeadLayout, mask, scale),
  }).output;
}

const zeros = (dtype: DataType = "float32", shape: readonly number[]): Tensor => ({
  dtype,
  shape,
  data: new Uint8Array(elementCount(shape) * elementSize[dtype]),
});

function trimmed(inputs: readonly (Value | undefined)[]): (Value | undefined)[] {
  return inputs.slice(0, inputs.findLastIndex((input) => input !== undefined) + 1);
}
