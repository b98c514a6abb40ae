import { float, int } from "../../graph/attribute.ts";
import type { Value } from "../../graph/node.ts";
import { any, constant as fixed, oneOf, op, over, product, sum } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule, uniformNumber, vectorOf } from "../../rewrite/rule.ts";
import { overLastAxis } from "../shared/over-last-axis.ts";

// SimplifiedLayerNormalization(x) = x / √(mean(x²) + ε) · γ, also called RMSNorm        https://arxiv.org/abs/1910.07467

const x = any("x");
const square = oneOf(product(x, x), op("Pow", [x, 2]));
const root = op("Sqrt", [sum(op("ReduceMean", [square], { where: overLastAxis }), fixed("epsilon"))]);

export const rmsNormalizationFusion: Rule = rule("SimplifiedLayerNormalization", {
  roots: ["Mul"],
  pattern: product(x, over(root), fixed("gamma")),
  rewrite({ root, value, add }) {
    const [x, gamma] = [value("x"), value("gamma")];
    const width = x.shape?.at(-1);
    if (isCentred(x)) return refuse("the mean is subtracted first, so this is a part of LayerNormalization", root);
    if (!vectorOf(gamma, width) || gamma.shape?.length !== 1)
      return refuse("gamma is not a vector as long as the last axis", root);
    const epsilon = uniformNumber(value("epsilon"));
    if (!(epsilon > 0)) return refuse("epsilon is not a positive number", root);
    if (x.dtype !== root.output.dtype || x.dtype !== gamma.dtype)
      return refuse("input, gamma and output have different types", root);
    const attributes = { axis: int(-1), epsilon: float(epsilon) };
    return add("SimplifiedLayerNormalization", [x, gamma], { attributes }).output;
  },
});

/** Whether a value is x − mean(x). */
const isCentred = ({ producer }: Value): boolean =>
  producer?.is("Sub") === true && producer.inputs.some((input) => input?.producer?.is("ReduceMean"));
