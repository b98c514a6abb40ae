import { int } from "../../graph/attribute.ts";
import { transposedMatrix } from "../../graph/transposed-matrix.ts";
import { bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";
import { weightOf } from "./dequantized.ts";

/** dequantize(q)ᵀ = dequantize(qᵀ). Scales per row become scales per column. */
export const transposedWeight: Rule = rule("transposed weight", {
  roots: ["Transpose"],
  pattern: op("Transpose", [bind("weight", op("DequantizeLinear", [constant("data")]))]),
  shared: ["weight"],
  rewrite({ value, add, constant }) {
    const weight = value("weight");
    const found = weightOf(weight, true);
    if (!found?.data.constant) return undefined;
    const matrix = constant(`${found.data.name}/transposed`, transposedMatrix(found.data.constant));
    return add("DequantizeLinear", [matrix, ...(weight.producer?.inputs.slice(1) ?? [])], {
      attributes: { axis: int(1) },
    }).output;
  },
});
