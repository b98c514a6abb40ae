import { elementSize, type Tensor } from "../../graph/tensor.ts";
import { op } from "../../rewrite/pattern.ts";
import { type Rewrite, type Rule, refuse, rule } from "../../rewrite/rule.ts";
import { activationOf, hasOneElement, isEightBit, type QuantizedTensor, weightOf } from "./dequantized.ts";
import { dequantizedMatMul } from "./static-matmul.ts";

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
    if (x.data.dtype === "int8" && weight.data.dtype === "uint8")
      return refuse("there is no kernel for int8 activations and uint8 weights", root);
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
