import type { Value } from "../../graph/node.ts";
import { any, bind, op } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { lastAxesSwapped, swapLastAxes } from "../swap-last-axes.ts";

/**
 * Moves a transpose from a MatMul of computed tensors to its operands: MatMul(a, b)ᵀ = MatMul(bᵀ, aᵀ). Some exporters
 * compute scores as keys · queriesᵀ and transpose them. A MatMul of attention probabilities and values stays as it is.
 */
export const transposedMatMulRule: Rule = rule("transposed MatMul", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("matMul", op("MatMul", [any("a"), any("b")]))]),
  rewrite(rewrite) {
    const { root, value, add } = rewrite;
    const [a, b] = [value("a"), value("b")];
    const rank = root.output.shape?.length ?? 0;
    const perm = root.ints("perm");
    const order = lastAxesSwapped(rank);
    const swaps = perm?.every((axis, i) => axis === order[i]);
    if (
      !swaps ||
      isProbabilities(a) ||
      a.isConstant ||
      b.isConstant ||
      a.shape?.length !== rank ||
      b.shape?.length !== rank
    )
      return undefined;
    return add("MatMul", [swapLastAxes(rewrite, b), swapLastAxes(rewrite, a)]).output;
  },
});

function isProbabilities({ producer: node }: Value): boolean {
  if (!node || node.is("Softmax")) return node !== undefined;
  const inputs = node.is("Where") || node.is("Cast") ? node.inputs : [];
  return inputs.some((input) => input && isProbabilities(input));
}
