import { sameDim } from "../../graph/dim.ts";
import { ints, MICROSOFT, type Node, type Value } from "../../graph/node.ts";
import { elementSize, type Tensor } from "../../graph/tensor.ts";
import { any, bind, constant, op, product, sum } from "../../rewrite/pattern.ts";
import { type Refusal, type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { vectorOf } from "../../rewrite/values.ts";
import { activationOf, hasOneElement, isEightBit, type QuantizedTensor, weightOf, zeroPoint } from "./dequantized.ts";

const dequantized = [
  bind("x", op("DequantizeLinear", [any("data")])),
  bind("weight", op("DequantizeLinear", [constant("weight data")])),
];
const dequantizedMatMul = op("MatMul", dequantized);

const whyNoKernel = (x: Value, weight: Value, node: Node): Refusal | undefined =>
  x.dtype === "int8" && weight.dtype === "uint8"
    ? refuse("there is no kernel for int8 activations and uint8 weights", node)
    : undefined;

/** Gemm(x, W, b) = x · W + b, or x · Wᵀ + b, for quantized x and W */
export const quantizedGemm: Rule = rule("quantized gemm", {
  roots: ["Gemm"],
  pattern: op("Gemm", dequantized),
  shared: ["x", "weight"],
  rewrite({ root, value, add }) {
    const [x, weight] = [value("x"), value("weight")];
    const [, , c] = root.inputs;
    const isTransposed = root.int("transB") === 1;
    const isScaled = (root.float("alpha") ?? 1) !== 1 || (root.float("beta") ?? 1) !== 1;
    if (isScaled || root.int("transA") === 1) return refuse("Gemm scales its terms or transposes its input", root);
    if (!activationOf(x) || !weightOf(weight, isTransposed))
      return refuse("its input or weight is not 8-bit, or has unsupported scales", root);
    const bias = vectorOf(c, root.output.shape?.at(-1));
    if (c && !bias) return refuse("its bias is not a constant vector", root);
    const matrix = isTransposed ? add("Transpose", [weight], { attributes: { perm: ints(1, 0) } }).output : weight;
    const matMul = add("MatMul", [x, matrix]).output;
    return bias ? add("Add", [matMul, bias]).output : matMul;
  },
});

// quantize(s · (x − z) · t ⊙ (W − y), u, v) = QLinearMatMul(x, s, z, W, t, y, u, v)
//
// https://onnx.ai/onnx/operators/onnx__QLinearMatMul.html

export const requantizedMatMul: Rule = rule("QLinearMatMul", {
  roots: ["QuantizeLinear"],
  pattern: op("QuantizeLinear", [dequantizedMatMul]),
  shared: ["x", "weight"],
  rewrite(rewrite) {
    const { root, value, add } = rewrite;
    const [x, weight] = [activationOf(value("x")), weightOf(value("weight"))];
    const [, scale, zero] = root.inputs;
    if (!x || !weight || !scale || !hasOneElement(scale) || scale.dtype !== "float32") {
      return refuse("its input, weight or result is not 8-bit, or has unsupported scales", root);
    }
    if (!isEightBit(root.output) || root.output.dtype !== x.data.dtype)
      return refuse("its input and result have different types", root);
    const refusal = whyNoKernel(x.data, weight.data, root);
    if (refusal) return refusal;
    const result: QuantizedTensor = { data: root.output, scale, zero };
    return add("QLinearMatMul", [
      ...operand(rewrite, x),
      ...operand(rewrite, weight),
      ...operand(rewrite, result).slice(1),
    ]).output;
  },
});

/** Returns the three inputs of QLinearMatMul for one tensor. The operator always needs a zero point. */
const operand = ({ root, constant }: Rewrite, { data, scale, zero }: QuantizedTensor) => [
  data,
  scale,
  zero ?? constant(`${root.origin}/zero_point`, zeroOf(data.dtype)),
];

const zeroOf = (dtype: Tensor["dtype"] = "uint8"): Tensor => ({
  dtype,
  shape: [],
  data: new Uint8Array(elementSize[dtype]),
});

// s · (x − z) · t ⊙ (W − y) = MatMulIntegerToFloat(x, W, s, t, z, y)
//
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulIntegerToFloat

export const staticMatMul: Rule = rule("MatMulIntegerToFloat", {
  roots: ["MatMul"],
  pattern: dequantizedMatMul,
  shared: ["x", "weight"],
  rewrite({ root, value, add }) {
    const [x, weight] = [activationOf(value("x")), weightOf(value("weight"))];
    if (!x) return refuse("its input has more than one scale, or is not 8-bit", value("x").producer);
    if (!weight)
      return refuse("its weight is not 8-bit, or has scales that are not per output channel", value("weight").producer);
    const refusal = whyNoKernel(x.data, weight.data, root);
    if (refusal) return refusal;
    const inputs = [x.data, weight.data, x.scale, weight.scale, x.zero, weight.zero];
    return add("MatMulIntegerToFloat", inputs, { domain: MICROSOFT }).output;
  },
});

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
    const [x, weight, scale, weightScale] = [value("x"), value("weight"), value("scale"), value("weight scale")];
    const [, , zero, weightZero] = value("matMul").producer?.inputs ?? [];
    if (weight.shape?.length !== 2) return refuse("its weight is not a matrix", root);
    const isPerColumn = (each: Value) =>
      hasOneElement(each) || (each.shape?.length === 1 && sameDim(each.shape[0], weight.shape?.[1]));
    if (root.output.dtype !== "float32") return refuse("its result is not float32", root);
    if (!hasOneElement(scale) || (zero && !hasOneElement(zero)))
      return refuse("its input has more than one scale", root);
    if (![weightScale, weightZero].every((each) => !each || isPerColumn(each))) {
      return refuse("the scales of its weight are not per output channel", root);
    }
    const refusal = whyNoKernel(x, weight, root);
    if (refusal) return refusal;
    const inputs = [x, weight, scale, weightScale, zero, zeroPoint(weightZero)];
    return add("MatMulIntegerToFloat", inputs, { domain: MICROSOFT }).output;
  },
});

/** MatMulIntegerToFloat(…) + b = MatMulIntegerToFloat(…, b) */
export const matMulBias: Rule = rule("bias of MatMulIntegerToFloat", {
  roots: ["Add"],
  pattern: sum(
    bind("matMul", op("MatMulIntegerToFloat", [], { domain: MICROSOFT, where: ({ inputs }) => !inputs[6] })),
    constant("bias"),
  ),
  check: ({ value, tensor }) =>
    tensor("bias").shape.length === 1 && tensor("bias").shape[0] === value("matMul").shape?.at(-1),
  rewrite({ value, add }) {
    const inputs = Array.from({ length: 6 }, (_, i) => value("matMul").producer?.inputs[i]);
    return add("MatMulIntegerToFloat", [...inputs, value("bias")], { domain: MICROSOFT }).output;
  },
});

// MatMulIntegerToFloat(x, W, s, t, z, y, b) with (x, s, z) = DynamicQuantizeLinear(a) = DynamicQuantizeMatMul(a, W, t, y, b)
//
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.DynamicQuantizeMatMul

/** Applies only if one MatMul reads the quantized tensor. If several read it, quantizing it once is faster. */
export const dynamicQuantizeMatMul: Rule = rule("DynamicQuantizeMatMul", {
  roots: ["MatMulIntegerToFloat"],
  domain: MICROSOFT,
  check({ root }) {
    const [x, , scale, , zero] = root.inputs;
    const quantized = x?.producer;
    const isWhole = [x, scale, zero].every((part, i) => part === quantized?.outputs[i]);
    return quantized?.is("DynamicQuantizeLinear") && isWhole && quantized;
  },
  rewrite({ graph, root, add }, quantized) {
    const isShared = (part: Value | undefined) =>
      part && (graph.isOutput(part) || [...part.users].some((user) => user !== root));
    if (quantized.outputs.some(isShared)) return refuse("its quantized input has other readers", quantized);
    const [, weight, , weightScale, , weightZero, bias] = root.inputs;
    const inputs = [quantized.inputs[0], weight, weightScale, weightZero, bias];
    return add("DynamicQuantizeMatMul", inputs, { domain: MICROSOFT }).output;
  },
});
