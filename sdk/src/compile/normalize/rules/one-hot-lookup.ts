import { int } from "../../graph/attribute.ts";
import { numbersOf } from "../../graph/tensor.ts";
import { any, bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { knownNumbers, normalizeAxis } from "../../shapes/shape-rule.ts";

/**
 * Replaces a MatMul of one-hot rows by a lookup: MatMul(OneHot(indices), table) = Gather(table, indices). TensorFlow
 * looks up small tables in this way.
 */
export const oneHotLookupRule: Rule = rule("one-hot lookup", {
  roots: ["MatMul"],
  pattern: op("MatMul", [
    bind("hot", op("OneHot", [any("indices"), any("depth"), constant("values")])),
    constant("table"),
  ]),
  rewrite({ root, value, add }) {
    const node = value("hot").producer;
    const rank = value("hot").shape?.length ?? 0;
    const [rows] = value("table").shape ?? [];
    const [off, on] = numbersOf(value("values").constant as NonNullable<ReturnType<typeof value>["constant"]>);
    const isLast = rank > 0 && normalizeAxis(node?.int("axis") ?? -1, rank) === rank - 1;
    if (!isLast || off !== 0 || on !== 1 || knownNumbers(value("depth"))?.[0] !== rows) {
      return refuse("OneHot does not select rows of the table", root);
    }
    return add("Gather", [value("table"), value("indices")], { attributes: { axis: int(0) } }).output;
  },
});
