import { sameDim } from "../../graph/dim.ts";
import { float, int, type Node, type Value } from "../../graph/node.ts";
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
import { type Refusal, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { vectorOf } from "../../rewrite/values.ts";
import { axesOf, normalizeAxis } from "../../shapes/shape-rule.ts";

/** Whether a node computes means over the last axis, and keeps this axis. If not, returns the reason. */
const overLastAxis = (node: Node): true | string => {
  const rank = node.inputs[0]?.shape?.length;
  if (rank === undefined) return "has an input whose shape is unknown";
  // tf2onnx uses GlobalAveragePool, the mean over all axes after the second. For a tensor of three axes, that is the last
  // axis.
  const axes =
    node.opType === "GlobalAveragePool"
      ? Array.from({ length: rank - 2 }, (_, i) => i + 2)
      : axesOf(node, 1)?.map((axis) => normalizeAxis(axis, rank));
  if (axes?.length !== 1 || axes[0] !== rank - 1) return "is not a mean over the last axis only";
  return node.int("keepdims") === 0 ? "does not keep the last axis" : true;
};

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
  // If this match has no beta, but the next node adds a constant, the constant may be beta. The pattern then matches at that
  // Add node instead.
  check: ({ root, maybe }) => maybe("beta") !== undefined || !isPartOfSum(root),
  rewrite({ root, value, maybe, number, add, constant }) {
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
    const epsilon = number("epsilon");
    if (!(epsilon > 0)) return refuse("epsilon is not a positive number", root);
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

// SimplifiedLayerNormalization(x) = x / √(mean(x²) + ε) · γ, also called RMSNorm        https://arxiv.org/abs/1910.07467

const input = any("x");
const squared = oneOf(product(input, input), op("Pow", [input, 2]));
const norm = op("Sqrt", [sum(op("ReduceMean", [squared], { where: overLastAxis }), fixed("epsilon"))]);

export const rmsNormalizationFusion: Rule = rule("SimplifiedLayerNormalization", {
  roots: ["Mul"],
  pattern: product(input, over(norm), fixed("gamma")),
  rewrite({ root, value, number, add }) {
    const [x, gamma] = [value("x"), value("gamma")];
    const width = x.shape?.at(-1);
    if (isCentred(x)) return refuse("the mean is subtracted first, so this is a part of LayerNormalization", root);
    if (!vectorOf(gamma, width) || gamma.shape?.length !== 1)
      return refuse("gamma is not a vector as long as the last axis", root);
    const epsilon = number("epsilon");
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

/**
 * Returns the reason why fused operators cannot contain a normalization. Returns undefined if all of these conditions hold:
 *
 * - The node normalizes only the last axis.
 * - Gamma and beta are vectors.
 * - No node reads its other outputs, the mean and the deviation.
 */
export function whyNotFusable(node: Node): Refusal | undefined {
  const [x, gamma, beta] = node.inputs;
  const rank = x?.shape?.length ?? 0;
  const axis = node.int("axis") ?? -1;
  if (axis !== -1 && axis !== rank - 1) return refuse(`${node.opType} is not over the last axis only`, node);
  if (node.outputs.slice(1).some((output) => output?.users.size))
    return refuse(`the mean or deviation of ${node.opType} is read by another node`, node);
  const isVector = [gamma, beta].every(
    (each) => !each || (each.shape?.length === 1 && sameDim(each.shape[0], x?.shape?.at(-1))),
  );
  return isVector ? undefined : refuse("gamma or beta is not a vector as long as the last axis", node);
}
