import { I8, type OperandRange, U7 } from "../../../runtime/engine/wasm/reference/quantize-rows.ts";
import { int } from "../../graph/attribute.ts";
import { EDGE } from "../../graph/edge-operators.ts";
import { tensor } from "../../graph/tensor.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { blockLookup } from "../tables/block-lookup.ts";
import { correctedBias, oncePerWeight } from "../weights/weight-quantizer.ts";

/**
 * Integer ranges of the two operands of a MatMul. The dot-product instruction of relaxed SIMD takes one 8-bit and one
 * 7-bit operand.
 */
export interface OperandRanges {
  readonly weight: OperandRange;
  readonly activation: OperandRange;
}

/** The default. `SEVEN_BIT_ACTIVATIONS` has the same speed, but is less accurate (docs/accuracy.md). */
export const SEVEN_BIT_WEIGHTS: OperandRanges = { weight: U7, activation: I8 };
export const SEVEN_BIT_ACTIVATIONS: OperandRanges = { weight: I8, activation: U7 };

/** Block size of a 4-bit table: numbers of a row that share a scale. */
const INT4_BLOCK = 32;

/**
 * Makes the scheme of the edge engine, which has integer kernels for every MatMul, including the two in attention.
 * Weights have a scale and a zero point for each output channel. Activations have a scale and a zero point for each
 * token. 8-bit tables have a scale for each row. 4-bit tables have a scale for each block of 32 numbers.
 */
export function int8Edge(tableBits: 8 | 4 = 8, operands: OperandRanges = SEVEN_BIT_WEIGHTS): QuantizationScheme {
  const { weight: range, activation } = operands;
  const quantized = oncePerWeight((graph, layer, { values, scales, zeroPoints, biasCorrection }) => {
    const { name, constant } = layer.weight;
    const [inputs = 0, outputs = 0] = constant.shape;
    const rows = new (range.min < 0 ? Int8Array : Uint8Array)(values.length);
    for (let at = 0; at < rows.length; at++) {
      rows[at] = values[(at % inputs) * outputs + Math.floor(at / inputs)] as number;
    }
    const dtype = range.min < 0 ? "int8" : "uint8";
    return {
      weight: graph.constant(`${name}.${dtype}`, tensor(dtype, [outputs, inputs], rows)),
      scale: graph.constant(`${name}.scale`, tensor("float32", [outputs], scales)),
      zeroPoint: graph.constant(`${name}.zero`, tensor("int32", [outputs], zeroPoints)),
      biasCorrection,
    };
  });
  return {
    weights: { ...range, symmetric: false },
    linearLayer(graph, layer, quantizedWeight) {
      const { weight, scale, zeroPoint, biasCorrection } = quantized(graph, layer, quantizedWeight);
      const inputs = [layer.x, weight, scale, zeroPoint, correctedBias(graph, layer, biasCorrection)];
      return graph.add("DynamicQuantizeMatMul", inputs, {
        name: layer.name,
        domain: EDGE,
        attributes: { activation_min: int(activation.min), activation_max: int(activation.max) },
      }).output;
    },
    attention(graph, { name, attributes }, { query, key, value, bias }) {
      const { num_heads, scale } = attributes;
      return graph.add("DynamicQuantizeAttention", [query, key, value, bias], {
        name,
        domain: EDGE,
        attributes: { ...(num_heads && { num_heads }), ...(scale && { scale }) },
      }).output;
    },
    minTableElements: 0,
    embeddingLookup: blockLookup((width) => (tableBits === 8 ? { bits: 8, block: width } : int4Table(width))),
  };
}

const int4Table = (width: number) => (width % INT4_BLOCK === 0 ? ({ bits: 4, block: INT4_BLOCK } as const) : undefined);
