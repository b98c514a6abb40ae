import { MICROSOFT } from "../../graph/node.ts";
import { any, bind, constant, op } from "../../rewrite/pattern.ts";
import { type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { activationOf, weightOf } from "./dequantized.ts";

// s · (x − z) · t ⊙ (W − y) = MatMulIntegerToFloat(x, W, s, t, z, y)
//
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulIntegerToFloat

export const dequantizedMatMul = op("MatMul", [
  bind("x", op("DequantizeLinear", [any("data")])),
  bind("weight", op("DequantizeLinear", [constant("weight data")])),
]);

export const staticMatMul: Rule = rule("MatMulIntegerToFloat", {
  roots: ["MatMul"],
  pattern: dequantizedMatMul,
  shared: ["x", "weight"],
  rewrite({ root, value, add }) {
    const [x, weight] = [activationOf(value("x")), weightOf(value("weight"))];
    if (!x) return refuse("its input has more than one scale, or is not 8-bit", value("x").producer);
    if (!weight)
      return refuse("its weight is not 8-bit, or has scales that are not per output channel", value("weight").producer);
    if (x.data.dtype === "int8" && weight.data.dtype === "uint8")
      return refuse("there is no kernel for int8 activations and uint8 weights", root);
    const inputs = [x.data, weight.data, x.scale, weight.scale, x.zero, weight.zero];
    return add("MatMulIntegerToFloat", inputs, { domain: MICROSOFT }).output;
  },
});
