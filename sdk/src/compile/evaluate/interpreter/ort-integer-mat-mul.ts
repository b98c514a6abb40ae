import { Tensor } from "onnxruntime-common";
import { onnxruntimeNode } from "../../../runtime/engine/ort-node/onnxruntime-node.ts";
import type { Bytes, IntegerProduct } from "../../../runtime/engine/wasm/reference/integer-product.ts";
import { ints } from "../../graph/attribute.ts";
import { Graph } from "../../graph/graph.ts";
import { encodeOnnx } from "../../onnx/to-onnx.ts";

/**
 * Added to signed bytes to make them unsigned. onnxruntime's integer MatMul gives exact results on every CPU only if
 * both operands are unsigned.
 */
const SHIFT = 128;
const OPSET = 17;

/**
 * Creates an integer MatMul that runs on onnxruntime. It gives the same results as the reference kernel, but is much
 * faster.
 */
export async function ortIntegerMatMul(): Promise<IntegerProduct> {
  const { InferenceSession } = await onnxruntimeNode();
  const graph = new Graph("product");
  graph.opsets.set("", OPSET);
  const input = (name: string) => graph.input(name, { dtype: "uint8", shape: undefined });
  const [a, b, zeroOfA, zeroOfB] = [input("a"), input("b"), input("a_zero"), input("b_zero")];
  const transposed = graph.add("Transpose", [b], { attributes: { perm: ints(1, 0) } }).output;
  const product = graph.add("MatMulInteger", [a, transposed, zeroOfA, zeroOfB]).output;
  graph.outputs.push({ name: "product", value: product, declaration: undefined });
  const session = await InferenceSession.create(encodeOnnx(graph), { intraOpNumThreads: 1 });
  return async (x, y, k) => {
    const [first, second] = [unsigned(x, k), unsigned(y, k)];
    const feeds = { a: first.values, b: second.values, a_zero: first.zero, b_zero: second.zero };
    const results = await session.run(feeds);
    return results["product"]?.data as Int32Array;
  };
}

function unsigned(x: Bytes, k: number): { values: Tensor; zero: Tensor } {
  const isSigned = x instanceof Int8Array;
  const bytes = isSigned ? new Uint8Array(x.length) : x;
  if (isSigned) for (let i = 0; i < x.length; i++) bytes[i] = (x[i] as number) + SHIFT;
  return {
    values: new Tensor("uint8", bytes, [x.length / k, k]),
    zero: new Tensor("uint8", Uint8Array.of(isSigned ? SHIFT : 0), []),
  };
}
