import { int } from "../../graph/attribute.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Replaces CastLike(x, y) by Cast(x) to the type of y. PyTorch's exporter leaves CastLike in a graph if it does not
 * optimize the graph.
 */
export const castLikeRule: Rule = rule("CastLike", {
  roots: ["CastLike"],
  rewrite({ root, add }) {
    const [x, like] = root.inputs;
    return like?.dtype && add("Cast", [x], { attributes: { to: int(dataTypes[like.dtype]) } }).output;
  },
});
