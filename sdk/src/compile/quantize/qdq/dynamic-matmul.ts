import { sameDim } from "../../graph/dim.ts";
import { MICROSOFT, type Value } from "../../graph/node.ts";
import { any, bind, constant, op, product } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { hasOneElement, zeroPoint } from "./dequantized.ts";

// float((x − z) · (W − y)) · (s · t) = MatMulIntegerToFloat(x, W, s, t, z, y)
//
// onnxruntime's quantize_dynamic writes the left side. x, s and z are the results of DynamicQuantizeLinear.

export const dynamicMatMul: Rule = rule("MatMulIntegerToFloat", {
  roots: ["Mul"],
  pattern: product(
    op("Cast", [bind("matMul", op("MatMulInteger", [any("x"), constant("weight")]))]),
    bind("scales", product(any("scale"), constant("weight scale"))),
  ),
  shared: ["scales"],
  rewrite({ root, value, add }) {
    const [x, weight, scale, weightScale] = ["x", "weight", "scale", "weight scale"].map(value) as Value[];
    const [, , zero, weightZero] = value("matMul").producer?.inputs ?? [];
    if (!x || !weight || !scale || !weightScale || weight.shape?.length !== 2) return undefined;
    const isPerColumn = (each: Value) =>
      hasOneElement(each) || (each.shape?.length === 1 && sameDim(each.shape[0], weight.shape?.[1]));
    if (root.output.dtype !== "float32") return refuse("its result is not float32", root);
    if (!hasOneElement(scale) || (zero && !hasOneElement(zero)))
      return refuse("its input has more than one scale", root);
    if (![weightScale, weightZero].every((each) => !each || isPerColumn(each))) {
      return refuse("the scales of its weight are not per output channel", root);
    }
    if (x.dtype === "int8" && weight.dtype === "uint8")
      return refuse("there is no kernel for int8 activations and uint8 weights", root);
    const inputs = [x, weight, scale, weightScale, zero, zeroPoint(weightZero)];
    return add("MatMulIntegerToFloat", inputs, { domain: MICROSOFT }).output;
  },
});
