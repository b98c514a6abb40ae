import { float } from "../../graph/attribute.ts";
import { MICROSOFT } from "../../graph/node.ts";
import { any, op, product } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

// quick_gelu(x) = x · sigmoid(1.702 · x)            https://github.com/hendrycks/GELUs

const ALPHA = 1.702;
const x = any("x");

export const quickGeluFusion: Rule = rule("QuickGelu", {
  roots: ["Mul"],
  pattern: product(x, op("Sigmoid", [product(ALPHA, x)])),
  rewrite: ({ value, add }) =>
    add("QuickGelu", [value("x")], { domain: MICROSOFT, attributes: { alpha: float(ALPHA) } }).output,
});
