import { int, ints } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { int64s, numbersOf } from "../graph/tensor.ts";
import { any, constant, oneOf, op, over, type Pattern, product } from "../rewrite/pattern.ts";
import { type Rewrite, type Rule, rule } from "../rewrite/rule.ts";

const mask = any("mask");
const count = op("ReduceSum", [mask, constant("counted")]);
/** Adds an axis for the width. */
const column = (pattern: Pattern): Pattern =>
  oneOf(op("Unsqueeze", [pattern, constant("last")]), op("Reshape", [pattern, constant("shape")]));

/** Our own graphs divide before they add, transformers' exports divide the sum. */
const pattern = oneOf(
  op("ReduceSum", [product(any("x"), column(product(mask, over(count)))), constant("axes")]),
  product(op("ReduceSum", [product(any("x"), column(mask)), constant("axes")]), over(count)),
);

/**
 * Replaces the mean over all tokens except padding by the mean over all tokens. The edge engine runs each text alone, so there
 * is no padding. If linear layers compute the tensor, their input is averaged instead: the mean of x · W + b is mean(x) · W + b.
 */
export const meanOfTokensRule: Rule = rule("mean of tokens", {
  roots: ["ReduceSum", "Div"],
  pattern,
  shared: ["mask", "x"],
  rewrite(rewrite) {
    const { graph, root, value } = rewrite;
    const x = value("x");
    const cast = value("mask").producer;
    const shown = cast?.is("Cast") ? cast.inputs[0] : value("mask");
    const isMask = shown?.name === "attention_mask" && graph.inputs.includes(shown);
    const axes = numbersOf(value("axes").constant as NonNullable<Value["constant"]>);
    if (!isMask || x.shape?.length !== 3 || root.output.shape?.length !== 2 || axes.join() !== "1") return undefined;
    return meanOf(rewrite, x);
  },
});

function meanOf(rewrite: Rewrite, x: Value): Value {
  const { add, constant, graph, root } = rewrite;
  const [input, weights] = x.producer?.inputs ?? [];
  if (input && weights?.isConstant && x.producer?.is("MatMul"))
    return add("MatMul", [meanOf(rewrite, input), weights]).output;
  if (input && weights?.constant?.shape.length === 1 && x.producer?.is("Add"))
    return add("Add", [meanOf(rewrite, input), weights]).output;
  const keepdims = int(0);
  // Since opset 18, the axes are an input.
  if ((graph.opsets.get("") ?? 1) < 18)
    return add("ReduceMean", [x], { attributes: { axes: ints(1), keepdims } }).output;
  return add("ReduceMean", [x, constant(`${root.origin}/tokens`, int64s(1))], { attributes: { keepdims } }).output;
}
