import { MICROSOFT } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import type { Form } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "../tables/block-lookup.ts";
import { biasOf } from "../weights/bias.ts";
import { I8 } from "../weights/grid.ts";
import { oncePerWeight, type Weights } from "../weights/weights.ts";

/**
 * What onnxruntime's CPU kernels, native and WebAssembly, run fastest: weights int8 with a scale per output channel,
 * activations uint8 with scale and zero point of the whole tensor found at run time, everything between the matrix products
 * in float32.
 */
export function int8Dynamic(weights: Weights): Form {
  const quantized = oncePerWeight((graph, product) => {
    const { levels, step, shift } = weights(product, I8);
    const { name, constant } = product.weight;
    return {
      weight: graph.constant(`${name}.int8`, tensor("int8", constant.shape, levels)),
      scale: graph.constant(`${name}.scale`, tensor("float32", [step.length], step)),
      shift,
    };
  });
  return {
    product(graph, product) {
      const { weight, scale, shift } = quantized(graph, product);
      const bias = biasOf(graph, product, shift);
      const inputs = bias ? [product.x, weight, scale, undefined, bias] : [product.x, weight, scale];
      return graph.add("DynamicQuantizeMatMul", inputs, { name: product.name, domain: MICROSOFT }).output;
    },
    attention(graph, product, { inputs, attributes }) {
      const [, , , mask, , scoreBias] = inputs;
      const { name, x } = product;
      if (scoreBias || !product.bias) return undefined;
      const { weight, scale, shift } = quantized(graph, product);
      const outputs = ["uint8", "scale", "zero_point"].map((part) => `${name}.x.${part}`);
      const read = graph.add("DynamicQuantizeLinear", [x], { name: `${name}.x`, outputs }).outputs;
      const all = [read[0], weight, biasOf(graph, product, shift), read[1], scale, mask, read[2]];
      return graph.add("QAttention", all, { name, domain: MICROSOFT, attributes }).output;
    },
    lookup: blockLookup(ortTable(8)),
  };
}
