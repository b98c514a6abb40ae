import { ints } from "../../graph/attribute.ts";
import { any, bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, rule, vectorOf } from "../../rewrite/rule.ts";
import { activationOf, weightOf } from "./dequantized.ts";

/** Gemm(x, W, b) = x · W + b, or x · Wᵀ + b, for quantized x and W */
export const quantizedGemm: Rule = rule("quantized gemm", {
  roots: ["Gemm"],
  pattern: op("Gemm", [
    bind("x", op("DequantizeLinear", [any("data")])),
    bind("weight", op("DequantizeLinear", [constant("weight data")])),
  ]),
  shared: ["x", "weight"],
  rewrite({ root, value, add }) {
    const [x, weight] = [value("x"), value("weight")];
    const [, , c] = root.inputs;
    const isTransposed = root.int("transB") === 1;
    const isScaled = (root.float("alpha") ?? 1) !== 1 || (root.float("beta") ?? 1) !== 1;
    if (isScaled || root.int("transA") === 1 || !activationOf(x) || !weightOf(weight, isTransposed)) return undefined;
    const bias = vectorOf(c, root.output.shape?.at(-1));
    if (c && !bias) return undefined;
    const matrix = isTransposed ? add("Transpose", [weight], { attributes: { perm: ints(1, 0) } }).output : weight;
    const matMul = add("MatMul", [x, matrix]).output;
    return bias ? add("Add", [matMul, bias]).output : matMul;
  },
});
