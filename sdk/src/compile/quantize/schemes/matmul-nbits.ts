import { int, MICROSOFT } from "../../graph/node.ts";
import { type Tensor, tensor } from "../../graph/tensor.ts";
import { concatenate } from "../../graph/tensor-math.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "../tables/block-lookup.ts";
import { packBits } from "../tables/quantize-table.ts";
import type { QuantizedWeight } from "../weights/quantize-weight.ts";
import { correctedBias, oncePerWeight } from "../weights/weight-quantizer.ts";

/** Value of `accuracy_level` for int8 activations, with a scale per block of each token. */
const INT8_ACTIVATIONS = 4;

export interface BlockPrecision {
  readonly bits: 8 | 4;
  /** Number of inputs that share a scale: a power of two, at least 16. */
  readonly block: number;
}

/**
 * Makes the scheme of onnxruntime's MatMulNBits. Weights have 8 or 4 bits, with a scale and zero point per block of inputs.
 * Activations are int8 with a scale per block. Scales per block are more accurate than one scale per tensor, but
 * slower. WebAssembly has no fast kernel for this operator.
 */
export function matMulNBits({ bits, block }: BlockPrecision): QuantizationScheme {
  const quantized = oncePerWeight((graph, layer, found) => {
    const { name } = layer.weight;
    const [inputs = 0, outputs = 0] = layer.weight.constant.shape;
    const blocks = Math.ceil(inputs / block);
    const weight = packed(found, [outputs, blocks, block], bits);
    // The zero points of every output start at a new byte.
    const zeroPoints = Array.from({ length: outputs }, (_, output) =>
      packBits(blocks, bits, (b) => found.zeroPoints[output * blocks + b] as number),
    );
    const zeroPointBytes = concatenate(Uint8Array, zeroPoints);
    return {
      weight: graph.constant(`${name}.uint${bits}`, weight),
      scale: graph.constant(`${name}.scale`, tensor("float32", [outputs * blocks], found.scales)),
      zeroPoint: graph.constant(`${name}.zero`, tensor("uint8", [zeroPointBytes.length], zeroPointBytes)),
      biasCorrection: found.biasCorrection,
    };
  });
  return {
    weights: { min: 0, max: 2 ** bits - 1, symmetric: false, block },
    linearLayer(graph, layer, quantizedWeight) {
      const { weight, scale, zeroPoint, biasCorrection } = quantized(graph, layer, quantizedWeight);
      const [inputs = 0, outputs = 0] = layer.weight.constant.shape;
      const all = [layer.x, weight, scale, zeroPoint, undefined, correctedBias(graph, layer, biasCorrection)];
      return graph.add("MatMulNBits", all, {
        name: layer.name,
        domain: MICROSOFT,
        attributes: {
          K: int(inputs),
          N: int(outputs),
          bits: int(bits),
          block_size: int(block),
          accuracy_level: int(INT8_ACTIVATIONS),
        },
      }).output;
    },
    embeddingLookup: blockLookup(ortTable(bits)),
  };
}

/** Packs a weight into uint8 [outputs, blocks, bytes of a block]. Padding of the last block is never read. */
function packed({ values }: QuantizedWeight, shape: readonly [number, number, number], bits: 8 | 4): Tensor {
  const [outputs, blocks, block] = shape;
  const inputs = values.length / outputs;
  const bytes = packBits(outputs * blocks * block, bits, (at) => {
    const [output, input] = [Math.floor(at / (blocks * block)), at % (blocks * block)];
    return input < inputs ? (values[input * outputs + output] as number) : 0;
  });
  return tensor("uint8", [outputs, blocks, (block * bits) / 8], bytes);
}
