import { int, ints } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

/** Maximum number of groups. Each group becomes a MatMul of its own, and small ones are slow. SqueezeBERT has 4. */
const MAX_GROUPS = 8;

/**
 * Replaces a Conv with kernel size 1, which is a linear layer on the channels of x [batch, channels, sequence]:
 * Conv(x, W, b) = (xᵀ · W + b)ᵀ. SqueezeBERT writes its linear layers in this way.
 *
 * Each of several groups of channels has a weight matrix of its own. They stay apart: one matrix for all channels would
 * consist mostly of zeros.
 */
export const pointwiseConvRule: Rule = rule("pointwise Conv", {
  roots: ["Conv"],
  rewrite(rewrite) {
    const { root, add } = rewrite;
    const [x, weight, bias] = root.inputs;
    const [channels, width, kernel] = weight?.constant?.shape ?? [];
    const groups = root.int("group") ?? 1;
    if (x?.shape?.length !== 3 || !weight || channels === undefined || width === undefined || kernel !== 1)
      return undefined;
    const isMoved = root.ints("pads")?.some((pad) => pad !== 0) || (root.ints("strides")?.[0] ?? 1) !== 1;
    if (isMoved || groups > MAX_GROUPS || (bias && !bias.constant)) return undefined;

    const rows = transposed(rewrite, x, [0, 2, 1]);
    const matrix = transposed(rewrite, reshaped(rewrite, weight, [channels, width]), [1, 0]);
    const product = groups === 1 ? add("MatMul", [rows, matrix]).output : groupedMatMul(rewrite, rows, matrix, groups);
    return transposed(rewrite, bias ? add("Add", [product, bias]).output : product, [0, 2, 1]);
  },
});

/** Multiplies each group of the last axis of x [batch, sequence, groups · n] with its columns of the weights [n, groups · m]. */
function groupedMatMul(rewrite: Rewrite, x: Value, weights: Value, groups: number): Value {
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

const reshaped = ({ root, add, constant }: Rewrite, value: Value, shape: readonly number[]) =>
  add("Reshape", [value, constant(`${root.origin}/shape`, int64s(...shape))]).output;

const transposed = ({ add }: Rewrite, value: Value, perm: readonly number[]) =>
  add("Transpose", [value], { attributes: { perm: ints(...perm) } }).output;
