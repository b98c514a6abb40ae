import { MICROSOFT } from "../../graph/node.ts";
import { any, oneOf, op, product, sum, through } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

// gelu(x) ≈ x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))            https://arxiv.org/abs/1606.08415, section 2

const x = through(["Cast"], any("x"));
const SLOPE = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

const inner = oneOf(product(SLOPE, sum(x, product(CUBIC, x, x, x))), product(SLOPE, x, sum(1, product(CUBIC, x, x))));

export const fastGeluFusion: Rule = rule("FastGelu", {
  roots: ["Mul", "Div"],
  pattern: product(x, 0.5, sum(1, op("Tanh", [inner]))),
  rewrite: ({ value, root, add }) =>
    value("x").dtype === root.output.dtype ? add("FastGelu", [value("x")], { domain: MICROSOFT }).output : undefined,
});

/** Replaces the standard Gelu operator (opset 20) with `approximate` = "tanh". */
export const tanhGeluFusion: Rule = rule("FastGelu", {
  roots: ["Gelu"],
  rewrite: ({ root, add }) =>
    root.string("approximate") === "tanh" ? add("FastGelu", [root.inputs[0]], { domain: MICROSOFT }).output : undefined,
});
