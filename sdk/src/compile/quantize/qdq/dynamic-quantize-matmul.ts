import { MICROSOFT, type Value } from "../../graph/node.ts";
import { type Rule, rule } from "../../rewrite/rule.ts";

// MatMulIntegerToFloat(x, W, s, t, z, y, b) with (x, s, z) = DynamicQuantizeLinear(a) = DynamicQuantizeMatMul(a, W, t, y, b)
//
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeMatMul

/** Applies only if one MatMul reads the quantized tensor. If several read it, quantizing it once is faster. */
export const dynamicQuantizeMatMul: Rule = rule("DynamicQuantizeMatMul", {
  roots: ["MatMulIntegerToFloat"],
  domain: MICROSOFT,
  rewrite({ graph, root, add }) {
    const [x, weight, scale, weightScale, zero, weightZero, bias] = root.inputs;
    const quantized = x?.producer;
    if (!quantized?.is("DynamicQuantizeLinear")) return undefined;
    const parts = quantized.outputs;
    if (parts[0] !== x || parts[1] !== scale || parts[2] !== zero) return undefined;
    const isShared = (part: Value | undefined) =>
      part && (graph.isOutput(part) || [...part.users].some((user) => user !== root));
    if (parts.some(isShared)) return undefined;
    const inputs = [quantized.inputs[0], weight, weightScale, weightZero, bias];
    return add("DynamicQuantizeMatMul", inputs, { domain: MICROSOFT }).output;
  },
});
