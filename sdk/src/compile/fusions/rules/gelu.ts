import { sameDim, sameShape } from "../../graph/dim.ts";
import { float, MICROSOFT, type Node } from "../../graph/node.ts";
import { any, oneOf, op, type Pattern, product, sum, through } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";

const x = any("x");

// gelu(x) = x · ½ · (1 + erf(x / √2))            https://arxiv.org/abs/1606.08415

export const geluFusion: Rule = rule("Gelu", {
  roots: ["Mul", "Div"],
  pattern: product(x, 0.5, sum(1, op("Erf", [product(x, Math.SQRT1_2)]))),
  rewrite: ({ value, add }) => add("Gelu", [value("x")], { domain: MICROSOFT }).output,
});

// gelu(x) ≈ x · ½ · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))            https://arxiv.org/abs/1606.08415, section 2

const cast = through(["Cast"], x);
const SLOPE = Math.sqrt(2 / Math.PI);
const CUBIC = 0.044715;

const inner = oneOf(
  product(SLOPE, sum(cast, product(CUBIC, cast, cast, cast))),
  product(SLOPE, cast, sum(1, product(CUBIC, cast, cast))),
);

export const fastGeluFusion: Rule = rule("FastGelu", {
  roots: ["Mul", "Div"],
  pattern: product(cast, 0.5, sum(1, op("Tanh", [inner]))),
  rewrite: ({ value, root, add }) =>
    value("x").dtype === root.output.dtype
      ? add("FastGelu", [value("x")], { domain: MICROSOFT }).output
      : refuse("input and output have different types", root),
});

/** Replaces the standard Gelu operator (opset 20) with `approximate` = "tanh". */
export const tanhGeluFusion: Rule = rule("FastGelu", {
  roots: ["Gelu"],
  check: ({ root }) => root.string("approximate") === "tanh",
  rewrite: ({ root, add }) => add("FastGelu", [root.inputs[0]], { domain: MICROSOFT }).output,
});

// quick_gelu(x) = x · sigmoid(1.702 · x)            https://github.com/hendrycks/GELUs

const ALPHA = 1.702;

export const quickGeluFusion: Rule = rule("QuickGelu", {
  roots: ["Mul"],
  pattern: product(x, op("Sigmoid", [product(ALPHA, x)])),
  rewrite: ({ value, add }) =>
    add("QuickGelu", [value("x")], { domain: MICROSOFT, attributes: { alpha: float(ALPHA) } }).output,
});

// BiasGelu(x, b) = gelu(x + b); FastGelu(x, b) is the same with the tanh approximation

const biased = sum(any("a"), any("b"));
const exact = (node: Node) => (node.string("approximate") ?? "none") === "none";

const withBias = (name: string, root: string, domain: string, pattern: Pattern): Rule =>
  rule(name, {
    roots: [root],
    domain,
    pattern,
    check({ root, value }) {
      const [x, bias] = value("b").shape?.length === 1 ? [value("a"), value("b")] : [value("b"), value("a")];
      const isBias = bias.shape?.length === 1 && sameDim(bias.shape[0], x.shape?.at(-1));
      return isBias && sameShape(x.shape, root.inputs[0]?.shape) && [x, bias];
    },
    rewrite: ({ add }, inputs) => add(name, inputs, { domain: MICROSOFT }).output,
  });

export const biasGeluFusions: readonly Rule[] = [
  withBias("BiasGelu", "Gelu", MICROSOFT, op("Gelu", [biased], { domain: MICROSOFT })),
  withBias("BiasGelu", "Gelu", "", op("Gelu", [biased], { where: exact })),
  withBias(
    "FastGelu",
    "FastGelu",
    MICROSOFT,
    op("FastGelu", [biased], { domain: MICROSOFT, where: (node) => node.inputs.length === 1 }),
  ),
];
