import { float, int } from "../../graph/attribute.ts";
import type { Node } from "../../graph/node.ts";
import { reshaped } from "../../graph/tensor.ts";
import {
  any,
  bind,
  constant as fixed,
  minus,
  oneOf,
  op,
  over,
  type Pattern,
  product,
  sum,
  through,
} from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule, uniformNumber, vectorOf } from "../../rewrite/rule.ts";
import { overLastAxis } from "../shared/over-last-axis.ts";

// LayerNorm(x) = (x − mean(x)) / √(mean((x − mean(x))²) + ε) · γ + β

const mean = (x: Pattern): Pattern =>
  oneOf(op("ReduceMean", [x], { where: overLastAxis }), op("GlobalAveragePool", [x], { where: overLastAxis }));

const cast = (pattern: Pattern) => through(["Cast"], pattern);
const x = cast(any("x"));
const centred = cast(sum(x, minus(cast(mean(x)))));
const square = oneOf(product(centred, centred), product(minusCentred(), minusCentred()));
const deviation = cast(op("Sqrt", [sum(cast(mean(cast(square))), fixed("epsilon"))]));

/** Matches mean(x) − x, which has the same square as x − mean(x). */
function minusCentred(): Pattern {
  return cast(sum(cast(mean(x)), minus(x)));
}

const gain = cast(fixed("gamma"));
const offset = cast(fixed("beta"));
// Exports in half precision normalize in float32 or float64, and cast before they multiply by γ.
const castNormalized = op("Cast", [product(centred, over(deviation))]);

const pattern = oneOf(
  sum(cast(product(centred, over(deviation), gain)), offset),
  sum(cast(product(castNormalized, gain)), offset),
  // TensorFlow writes x · (γ / σ) + (β − mean · (γ / σ)).
  sum(product(x, bind("scale", product(over(deviation), gain))), offset, minus(product(mean(x), any("scale")))),
  sum(product(x, bind("scale", product(over(deviation), gain))), offset, product(op("Neg", [mean(x)]), any("scale"))),
  product(centred, over(deviation), gain),
);

export const layerNormalizationFusion: Rule = rule("LayerNormalization", {
  roots: ["Add", "Sub", "Mul"],
  pattern,
  rewrite({ root, value, maybe, add, constant }) {
    const x = value("x");
    const width = x.shape?.at(-1);
    const [gamma, beta] = [value("gamma"), maybe("beta")].map((each) => {
      const { constant: tensor } = vectorOf(each, width) ?? {};
      return tensor && tensor.shape.length !== 1
        ? constant(each?.name ?? "", reshaped(tensor, [Number(width)]))
        : tensor && each;
    });
    if (!gamma || (maybe("beta") && !beta))
      return refuse("gamma or beta is not a vector as long as the last axis", root);
    const epsilon = uniformNumber(value("epsilon"));
    if (!(epsilon > 0)) return refuse("epsilon is not a positive number", root);
    // If this match has no beta, but the next node adds a constant, the constant may be beta. The pattern then matches
    // at that Add node instead.
    if (!beta && isPartOfSum(root)) return undefined;
    if (x.dtype !== root.output.dtype || x.dtype !== gamma.dtype)
      return refuse("input, gamma and output have different types", root);
    const attributes = { axis: int(-1), epsilon: float(epsilon) };
    return add("LayerNormalization", beta ? [x, gamma, beta] : [x, gamma], { attributes }).output;
  },
});

const isPartOfSum = (root: Node) =>
  [...root.output.users].some(
    (user) => (user.is("Add") || user.is("Cast")) && user.inputs.some((input) => input?.isConstant || user.is("Cast")),
  );
