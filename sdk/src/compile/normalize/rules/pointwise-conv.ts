import { int, type Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { transposed } from "./transpose.ts";

/** Maximum number of groups. Each group becomes a MatMul of its own, and small ones are slow. SqueezeBERT has 4. */
const MAX_GROUPS = 8;

/**
 * Replaces a Conv with kernel size 1, which is a linear layer on the channels of x [batch, channels, sequence]:
 * Conv(x, W, b) = (xᵀ · W + b)ᵀ. SqueezeBERT writes its linear layers in this way.
 *
 * If the channels have several groups, each group has its own weight matrix and becomes a separate MatMul. One matrix for all
 * channels would consist mostly of zeros.
 */
export const pointwiseConvRule: Rule = rule("pointwise Conv", {
  roots: ["Conv"],
  check({ root: { inputs } }) {
    const [x, weight] = inputs;
    const [channels, width, kernel] = weight?.constant?.shape ?? [];
    if (x?.shape?.length !== 3 || !weight || channels === undefined || width === undefined) return undefined;
    return kernel === 1 && { x, weight, shape: [channels, width] };
  },
  rewrite(rewrite, { x, weight, shape }) {
    const { root, add, constant } = rewrite;
    const bias = root.inputs[2];
    const groups = root.int("group") ?? 1;
    const isMoved = root.ints("pads")?.some((pad) => pad !== 0) || (root.ints("strides")?.[0] ?? 1) !== 1;
    if (isMoved) return refuse("Conv has padding or a stride", root);
    if (groups > MAX_GROUPS) return refuse(`Conv has ${groups} groups; at most ${MAX_GROUPS} become MatMuls`, root);
    if (bias && !bias.constant) return refuse("the bias of Conv is not a constant", root);

    const rows = transposed(rewrite, x, [0, 2, 1]);
    const matrix = add("Reshape", [weight, constant(`${root.origin}/shape`, int64s(...shape))]).output;
    const product = groupedMatMul(rewrite, rows, transposed(rewrite, matrix, [1, 0]), groups);
    return transposed(rewrite, bias ? add("Add", [product, bias]).output : product, [0, 2, 1]);
  },
});

/** Multiplies each group of the last axis of x [batch, sequence, groups · n] with its columns of the weights [n, groups · m]. */
function groupedMatMul(rewrite: Rewrite, x: Value, weights: Value, groups: number): Value {
  if (groups === 1) return rewrite.add("MatMul", [x, weights]).output;
  const products = Array.from({ length: groups }, (_, i) => {
    const [input, matrix] = [x, weights].map((value) => part(rewrite, value, i, groups));
    return rewrite.add("MatMul", [input, matrix]).output;
  });
  return rewrite.add("Concat", products, { attributes: { axis: int(-1) } }).output;
}

/** Returns one of several equal parts of a value's last axis. */
function part({ root, add, constant }: Rewrite, value: Value, index: number, count: number): Value {
  const size = Number(value.shape?.at(-1)) / count;
  const bounds = [index * size, (index + 1) * size, -1].map((bound) => constant(`${root.origin}/part`, int64s(bound)));
  return add("Slice", [value, ...bounds]).output;
}
