import { MICROSOFT } from "../../graph/node.ts";
import { bind, constant, op, sum } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/** MatMulIntegerToFloat(…) + b = MatMulIntegerToFloat(…, b) */
export const matMulBias: Rule = rule("bias of MatMulIntegerToFloat", {
  roots: ["Add"],
  pattern: sum(
    bind("matMul", op("MatMulIntegerToFloat", [], { domain: MICROSOFT, where: ({ inputs }) => !inputs[6] })),
    constant("bias"),
  ),
  rewrite({ value, add }) {
    const [matMul, bias] = [value("matMul"), value("bias")];
    if (bias.shape?.length !== 1 || bias.shape[0] !== matMul.shape?.at(-1)) return undefined;
    const inputs = Array.from({ length: 6 }, (_, i) => matMul.producer?.inputs[i]);
    return add("MatMulIntegerToFloat", [...inputs, bias], { domain: MICROSOFT }).output;
  },
});
