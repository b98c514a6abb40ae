import { int } from "../../graph/attribute.ts";
import { MICROSOFT } from "../../graph/node.ts";
import { type Tensor, tensor } from "../../graph/tensor.ts";
import { packBits } from "../pack-bits.ts";
import type { Form } from "../quantize-graph.ts";
import { blockLookup, ortTable } from "../tables/block-lookup.ts";
import { biasOf } from "../weights/bias.ts";
import type { QuantizedWeight } from "../weights/quantize-weight.ts";
import { oncePerWeight, type Weights } from "../weights/weights.ts";

/** accuracy_level 4: activations become int8, with a scale per block of each token. */
const INT8_ACTIVATIONS = 4;

export interface BlockPrecision {
  readonly bits: 8 | 4;
  /** Inputs that share a scale: a power of two from 16. */
  readonly block: number;
}

/**
 * onnxruntime's MatMulNBits: weights of 8 or 4 bits with a scale and zero point for every block of inputs, activations int8
 * likewise. More accurate than one scale a tensor, and slower; WebAssembly has no fast kernel for it.
 */
export function matMulNBits(weights: Weights, precision: BlockPrecision): Form {
  const { bits, block } = precision;
  const levels = { least: 0, greatest: 2 ** bits - 1, symmetric: false, block };
  const quantized = oncePerWeight((graph, product) => {
    const found = weights(product, levels);
    const { name } = product.weight;
    const [inputs = 0, outputs = 0] = product.weight.constant.shape;
    const blocks = Math.ceil(inputs / block);
    const weight = packed(found, [outputs, blocks, block], bits);
    // Every output's zero points begin with a byte of their own.
    const zeros = Array.from({ length: outputs }, (_, output) =>
      packBits(blocks, bits, (b) => found.zero[output * blocks + b] as number),
    );
    return {
      weight: graph.constant(`${name}.uint${bits}`, weight),
      scale: graph.constant(`${name}.scale`, tensor("float32", [outputs * blocks], found.step)),
      zero: graph.constant(`${name}.zero`, tensor("uint8", [outputs * (zeros[0]?.length ?? 0)], concatenated(zeros))),
      shift: found.shift,
    };
  });
  return {
    product(graph, product) {
      const { weight, scale, zero, shift } = quantized(graph, product);
      const [inputs = 0, outputs = 0] = product.weight.constant.shape;
      const all = [product.x, weight, scale, zero, undefined, biasOf(graph, product, shift)];
      return graph.add("MatMulNBits", all, {
        name: product.name,
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
    lookup: blockLookup(ortTable(bits)),
  };
}

/** uint8 [outputs, blocks, bytes of a block]; what the last block has beyond the inputs is never read. */
function packed({ levels }: QuantizedWeight, shape: readonly [number, number, number], bits: 8 | 4): Tensor {
  const [outputs, blocks, block] = shape;
  const inputs = levels.length / outputs;
  const bytes = packBits(outputs * blocks * block, bits, (at) => {
    const [output, input] = [Math.floor(at / (blocks * block)), at % (blocks * block)];
    return input < inputs ? (levels[input * outputs + output] as number) : 0;
  });
  return tensor("uint8", [outputs, blocks, (block * bits) / 8], bytes);
}

function concatenated(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const size = parts[0]?.length ?? 0;
  const all = new Uint8Array(parts.length * size);
  parts.forEach((part, i) => {
    all.set(part, i * size);
  });
  return all;
}
