import { any, bind, constant, oneOf, op } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

const [m, c] = [any("m"), constant("c")];

/**
 * Adds a product instead of subtracting it: x − m · c = x + m · (−c), for constants c. Some models subtract their mask
 * times 10⁶ from the scores.
 */
export const subtractedProductRule: Rule = rule("subtracted product", {
  roots: ["Sub"],
  pattern: op("Sub", [any("x"), bind("product", oneOf(op("Mul", [m, c]), op("Mul", [c, m])))]),
  shared: ["product"],
  rewrite({ value, add }) {
    const [x, m, c] = [value("x"), value("m"), value("c")];
    if (x.isConstant || m.isConstant || !c.dtype?.startsWith("float")) return undefined;
    return add("Add", [x, add("Mul", [m, add("Neg", [c]).output]).output]).output;
  },
});
