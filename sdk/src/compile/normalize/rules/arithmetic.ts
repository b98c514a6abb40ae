import { int } from "../../graph/node.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { any, bind, constant, oneOf, op, product, sum } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

const condition = any("condition");

/**
 * Finds arithmetic that selects one of two values, and replaces it by a Where:
 * a · cast(condition) + b · cast(not condition) = Where(condition, a, b).
 *
 * tf2onnx writes this arithmetic for opsets in which Where does not support the type.
 */
export const arithmeticSelectRule: Rule = rule("arithmetic select", {
  roots: ["Add"],
  pattern: sum(
    bind("first", product(any("a"), bind("chosen", op("Cast", [condition])))),
    bind("second", product(any("b"), bind("rest", op("Cast", [bind("inverse", op("Not", [condition]))])))),
  ),
  shared: ["chosen", "rest", "inverse", "first", "second"],
  check: ({ value }) => value("condition").dtype === "bool",
  rewrite: ({ value, add }) => add("Where", [value("condition"), value("a"), value("b")]).output,
});

/**
 * Replaces CastLike(x, y) by Cast(x) to the type of y. PyTorch's exporter leaves CastLike in a graph if it does not
 * optimize the graph.
 */
export const castLikeRule: Rule = rule("CastLike", {
  roots: ["CastLike"],
  check: ({ root }) => root.inputs[1]?.dtype,
  rewrite: ({ root, add }, dtype) =>
    add("Cast", [root.inputs[0]], { attributes: { to: int(dataTypes[dtype]) } }).output,
});

const [m, c] = [any("m"), constant("c")];

/**
 * Adds a product instead of subtracting it: x − m · c = x + m · (−c), for constants c. Some models subtract their mask
 * times 10⁶ from the scores.
 */
export const subtractedProductRule: Rule = rule("subtracted product", {
  roots: ["Sub"],
  pattern: op("Sub", [any("x"), bind("product", oneOf(op("Mul", [m, c]), op("Mul", [c, m])))]),
  shared: ["product"],
  check: ({ value }) => !value("x").isConstant && !value("m").isConstant && value("c").dtype?.startsWith("float"),
  rewrite: ({ value, add }) =>
    add("Add", [value("x"), add("Mul", [value("m"), add("Neg", [value("c")]).output]).output]).output,
});
