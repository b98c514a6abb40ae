import { MICROSOFT } from "../../graph/node.ts";
import { tensorFromNumbers } from "../../graph/tensor.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { swapLastAxes } from "../swap-last-axes.ts";

/**
 * Splits onnxruntime's FusedMatMul(a, b) = alpha · a · b, where a and b may be transposed, into standard operators. Files
 * that an onnxruntime session has saved contain it.
 */
export const fusedMatMulRule: Rule = rule("FusedMatMul", {
  roots: ["FusedMatMul"],
  domain: MICROSOFT,
  rewrite(rewrite) {
    const { root, add, constant } = rewrite;
    const [a, b] = root.inputs;
    const { dtype } = root.output;
    if (!a?.shape || !b?.shape || !dtype || root.int("transBatchA") === 1 || root.int("transBatchB") === 1)
      return undefined;
    const [left, right] = [
      root.int("transA") === 1 ? swapLastAxes(rewrite, a) : a,
      root.int("transB") === 1 ? swapLastAxes(rewrite, b) : b,
    ];
    const product = add("MatMul", [left, right]).output;
    const alpha = root.float("alpha") ?? 1;
    return alpha === 1
      ? product
      : add("Mul", [product, constant("alpha", tensorFromNumbers(dtype, [], [alpha]))]).output;
  },
});
