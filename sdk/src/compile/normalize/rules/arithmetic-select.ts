import { any, bind, op, product, sum } from "../../rewrite/pattern.ts";
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
  rewrite: ({ value, add }) =>
    value("condition").dtype === "bool" ? add("Where", [value("condition"), value("a"), value("b")]).output : undefined,
});
