import { elementCount, lazyTensor, reading, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { LinearWeights } from "./take-weights.ts";

/**
 * Repeats the heads of a linear layer that several heads of queries share, as in grouped-query attention
 * (https://arxiv.org/abs/2305.13245). onnxruntime's MultiHeadAttention needs as many heads of keys and values as of queries.
 *
 * @param layer has `from` heads
 * @returns a layer with `to` heads: head h is head ⌊h · from / to⌋ of `layer`
 */
export function repeatHeads(layer: LinearWeights, from: number, to: number): LinearWeights {
  if (from === to) return layer;
  return { weight: repeated(layer.weight, from, to), bias: layer.bias && repeated(layer.bias, from, to) };
}

function repeated(whole: Tensor, from: number, to: number): Tensor {
  const [rows = 0, ...columns] = whole.shape;
  const shape = [(rows / from) * to, ...columns];
  return lazyTensor("float32", shape, () => {
    const head = elementCount(whole.shape) / from;
    const values = new Float32Array(to * head);
    reading(whole, (read) => {
      const all = toFloat32(read);
      for (let h = 0; h < to; h++) {
        const source = Math.floor((h * from) / to);
        values.set(all.subarray(source * head, (source + 1) * head), h * head);
      }
    });
    return tensor("float32", shape, values).data;
  });
}
