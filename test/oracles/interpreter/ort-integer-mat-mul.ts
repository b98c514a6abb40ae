import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { Graph } from "#sdk/compile/graph/graph.ts";
import { ints } from "#sdk/compile/graph/node.ts";
import { tensor } from "#sdk/compile/graph/tensor.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { onnxruntimeNode } from "#sdk/runtime/engine/ort-node/onnxruntime-node.ts";
import type { Bytes, IntegerProduct } from "../reference/integer-product.ts";

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

function unsigned(x: Bytes, k: number) {
  const isSigned = x instanceof Int8Array;
  const bytes = isSigned ? new Uint8Array(x.length) : x;
  if (isSigned) for (let i = 0; i < x.length; i++) bytes[i] = (x[i] as number) + SHIFT;
  return {
    values: toOrt(tensor("uint8", [x.length / k, k], bytes)),
    zero: toOrt(tensor("uint8", [], Uint8Array.of(isSigned ? SHIFT : 0))),
  };
}
