import { ints } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { int64s } from "../../graph/tensor.ts";
import { type Rewrite, type Rule, rule } from "../../rewrite/rule.ts";

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
    const { root, add, constant } = rewrite;
    const [x, weight, bias] = root.inputs;
    const [channels, width, kernel] = weight?.constant?.shape ?? [];
    if (x?.shape?.length !== 3 || !weight || channels === undefined || width === undefined || kernel !== 1)
      return undefined;
    const isMoved = root.ints("pads")?.some((pad) => pad !== 0) || (root.ints("strides")?.[0] ?? 1) !== 1;
    if (isMoved || (bias && !bias.constant)) return undefined;

    const groups = root.int("group") ?? 1;
    const sizes = groups === 1 ? [channels, width] : [groups, channels / groups, width];
    const matrices = add("Reshape", [weight, constant(`${root.origin}/groups`, int64s(...sizes))]).output;
    const swapped = groups === 1 ? ints(1, 0) : ints(0, 2, 1);
    const matrix = add("Transpose", [matrices], { attributes: { perm: swapped } }).output;
    const rows = transposed(rewrite, x, [0, 2, 1]);
    const product = groups === 1 ? add("MatMul", [rows, matrix]).output : groupedMatMul(rewrite, rows, matrix, groups);
    return transposed(rewrite, bias ? add("Add", [product, bias]).output : product, [0, 2, 1]);
  },
});

/** Multiplies each group of the last axis of x [batch, sequence, groups · n] with its matrix in [groups, n, m]. */
function groupedMatMul(rewrite: Rewrite, x: Value, matrices: Value, groups: number): Value {
  const { root, add, constant } = rewrite;
  const split = add("Reshape", [x, constant(`${root.origin}/split`, int64s(0, 0, groups, -1))]).output;
  const products = add("MatMul", [transposed(rewrite, split, [0, 2, 1, 3]), matrices]).output;
  const together = constant(`${root.origin}/joined`, int64s(0, 0, -1));
  return add("Reshape", [transposed(rewrite, products, [0, 2, 1, 3]), together]).output;
}

const transposed = ({ add }: Rewrite, value: Value, perm: readonly number[]) =>
  add("Transpose", [value], { attributes: { perm: ints(...perm) } }).output;
