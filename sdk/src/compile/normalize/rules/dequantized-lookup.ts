import { elementCount } from "../../graph/tensor.ts";
import { bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

/**
 * Looks rows of a quantized table up before they are scaled: Gather(DequantizeLinear(table), ids) =
 * DequantizeLinear(Gather(table, ids)). Otherwise, every run would scale the whole table.
 */
export const dequantizedLookupRule: Rule = rule("dequantized lookup", {
  roots: ["Gather"],
  pattern: op("Gather", [bind("table", op("DequantizeLinear", [constant("rows")]))]),
  shared: ["table"],
  rewrite({ root, value, add }) {
    const [, scale, zero] = value("table").producer?.inputs ?? [];
    const [, ids] = root.inputs;
    if (
      !ids ||
      ids.isConstant ||
      !scale?.constant ||
      elementCount(scale.constant.shape) !== 1 ||
      scale.shape?.length !== 0
    )
      return undefined;
    const rows = add("Gather", [value("rows"), ids], { attributes: root.attributes }).output;
    return add("DequantizeLinear", zero ? [rows, scale, zero] : [rows, scale]).output;
  },
});
