import { ints } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Makes a rule that splits a Gemm if `applies(a)` is true:
 * Gemm(a, b, c) = MatMul(a, b) + c. With `transB`, b is transposed first.
 */
const gemmOf = (applies: (a: Value) => boolean): Rule =>
  rule("gemm", {
    roots: ["Gemm"],
    rewrite({ root, add }) {
      const [a, b, c] = root.inputs;
      const scaled = (root.float("alpha") ?? 1) !== 1 || (c !== undefined && (root.float("beta") ?? 1) !== 1);
      if (!a || !applies(a)) return undefined;
      if (scaled || root.int("transA") === 1 || !b?.shape) return undefined;
      const weight = root.int("transB") === 1 ? add("Transpose", [b], { attributes: { perm: ints(1, 0) } }).output : b;
      const matMul = add("MatMul", [a, weight]).output;
      return c ? add("Add", [matMul, c]).output : matMul;
    },
  });

const isRows = ({ producer, shape }: Value) =>
  producer?.is("Reshape") === true && (producer.inputs[0]?.shape?.length ?? 0) > (shape?.length ?? 0);

/**
 * Replaces each Gemm whose input has one row per token. Keeps Gemm in poolers and task heads, whose input has one row
 * per text.
 */
export const gemmRule: Rule = gemmOf(isRows);

/** Replaces every Gemm, also in poolers and task heads. */
export const everyGemmRule: Rule = gemmOf(() => true);
