import { sameShape } from "../../graph/dim.ts";
import { float, MICROSOFT, type Value } from "../../graph/node.ts";
import { any, bind, op, sum } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { vectorOf } from "../../rewrite/values.ts";
import { whyNotFusable } from "./normalization.ts";

// SkipLayerNormalization(x, skip, γ, β, b) = LayerNorm(x + skip + b)
// SkipSimplifiedLayerNormalization(x, skip, γ, b) = RMSNorm(x + skip + b)

export const skipNormalizationFusions: readonly Rule[] = [
  skipFusion("LayerNormalization", "SkipLayerNormalization"),
  skipFusion("SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization"),
];

/**
 * Fuses an Add and the normalization that reads it. If other nodes read the sum too, they get it as the fourth output of
 * the fused operator.
 */
function skipFusion(normalization: string, fused: string): Rule {
  return rule(fused, {
    roots: [normalization],
    pattern: op(normalization, [bind("sum", sum(any("a"), any("b")))]),
    shared: ["sum"],
    rewrite({ graph, root, value, add }) {
      const [, gamma, beta] = root.inputs;
      const hasBeta = normalization === "LayerNormalization";
      const total = value("sum");
      const [a, b] = [value("a"), value("b")];
      const { shape } = total;
      if (!shape) return refuse("the shape of the sum is unknown", total.producer);
      const refusal = whyNotFusable(root);
      if (refusal) return refusal;
      if (a.isConstant || b.isConstant || !sameShape(a.shape, shape) || !sameShape(b.shape, shape)) {
        return refuse("one of the added tensors is a constant, or their shapes differ", total.producer);
      }
      if (shape.length !== 3 && shape.length !== 2) return refuse("the input does not have two or three axes", root);
      const [x, skip, bias] = withBias(a, b) ?? [...(withBias(b, a) ?? [a, b, undefined])];
      const isShared = graph.isOutput(total) || [...total.users].some((user) => user !== root);
      const names = isShared ? [root.origin, "", "", `${root.origin}/sum`] : [root.origin];
      const node = add(fused, [x, skip, gamma, ...(hasBeta && (beta || bias) ? [beta] : []), ...(bias ? [bias] : [])], {
        domain: MICROSOFT,
        attributes: { epsilon: float(root.float("epsilon") ?? 1e-5) },
        outputs: names,
      });
      const also = node.outputs[3];
      return also
        ? [
            [root.output, node.output],
            [total, also],
          ]
        : node.output;
    },
  });
}

/**
 * Splits x, the output of a linear layer, into its MatMul and its bias, because the fused operator can add the bias.
 * Returns undefined if x has no bias, or if another node reads x.
 */
function withBias(x: Value, skip: Value): [Value, Value, Value] | undefined {
  const node = x.producer;
  if (!node?.is("Add") || x.users.size !== 1) return undefined;
  const bias = node.inputs.find((input) => vectorOf(input, x.shape?.at(-1)) && input?.shape?.length === 1);
  const rest = node.inputs.find((input) => input !== bias);
  return bias && rest && sameShape(rest.shape, x.shape) ? [rest, skip, bias] : undefined;
}
