import { MICROSOFT } from "../../graph/node.ts";
import { tensor } from "../../graph/tensor.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "../tables/block-lookup.ts";
import { INT8_SYMMETRIC } from "../weights/quantization-parameters.ts";
import { correctedBias, oncePerWeight } from "../weights/weight-quantizer.ts";

/**
 * Makes the scheme of onnxruntime's fastest CPU kernels, native and WebAssembly. Weights are int8 with a scale per output
 * channel. Activations are uint8 with one scale and zero point per tensor, computed at run time. Everything between the
 * MatMuls is float32.
 */
export function int8Dynamic(): QuantizationScheme {
  const quantized = oncePerWeight((graph, layer, { values, scales, biasCorrection }) => {
    const { name, constant } = layer.weight;
    return {
      weight: graph.constant(`${name}.int8`, tensor("int8", constant.shape, values)),
      scale: graph.constant(`${name}.scale`, tensor("float32", [scales.length], scales)),
      biasCorrection,
    };
  });
  return {
    weights: INT8_SYMMETRIC,
    linearLayer(graph, layer, quantizedWeight) {
      const { weight, scale, biasCorrection } = quantized(graph, layer, quantizedWeight);
      const bias = correctedBias(graph, layer, biasCorrection);
      const inputs = bias ? [layer.x, weight, scale, undefined, bias] : [layer.x, weight, scale];
      return graph.add("DynamicQuantizeMatMul", inputs, { name: layer.name, domain: MICROSOFT }).output;
    },
    packedAttention(graph, layer, quantizedWeight, { inputs, attributes }) {
      const [, , , mask, , scoreBias] = inputs;
      const { name, x } = layer;
      if (scoreBias || !layer.bias) return undefined;
      const { weight, scale, biasCorrection } = quantized(graph, layer, quantizedWeight);
      const outputs = ["uint8", "scale", "zero_point"].map((part) => `${name}.x.${part}`);
      const rounded = graph.add("DynamicQuantizeLinear", [x], { name: `${name}.x`, outputs }).outputs;
      const bias = correctedBias(graph, layer, biasCorrection);
      const all = [rounded[0], weight, bias, rounded[1], scale, mask, rounded[2]];
      return graph.add("QAttention", all, { name, domain: MICROSOFT, attributes }).output;
    },
    embeddingLookup: blockLookup(ortTable(8)),
  };
}
