import { MICROSOFT } from "../../graph/node.ts";
import { any, op, product, sum } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

// gelu(x) = x · ½ · (1 + erf(x / √2))            https://arxiv.org/abs/1606.08415

const x = any("x");

export const geluFusion: Rule = rule("Gelu", {
  roots: ["Mul", "Div"],
  pattern: product(x, 0.5, sum(1, op("Erf", [product(x, Math.SQRT1_2)]))),
  rewrite: ({ value, add }) => add("Gelu", [value("x")], { domain: MICROSOFT }).output,
});
