import { I8, type OperandRange, U7 } from "../../../runtime/engine/wasm/constants/operand-ranges.ts";
import type { WeightGroup } from "../../../runtime/engine/wasm/ops/linear.ts";
import type { Graph } from "../../graph/graph.ts";
import { type Attribute, int, type Value } from "../../graph/node.ts";
import { EDGE } from "../../graph/operators.ts";
import { type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { LinearLayer } from "../linear-layers.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { type RelativeTerm, type RelativeTerms, relativeTerms } from "../relative-terms.ts";
import { blockLookup } from "../tables/block-lookup.ts";
import { levelLookup } from "../tables/level-table.ts";
import { quantizeWeight, ROUND_TO_NEAREST, type RoundingOptions } from "../weights/quantize-weight.ts";
import { correctedBias, oncePerWeight } from "../weights/weight-quantizer.ts";

/**
 * Integer ranges of the two operands of a MatMul. The dot-product instruction of relaxed SIMD takes one 8-bit and one
 * 7-bit operand.
 */
export interface OperandRanges {
  readonly weight: OperandRange;
  readonly activation: OperandRange;
}

/** Default ranges of `int8Edge`. `SEVEN_BIT_ACTIVATIONS` has the same speed, but is less accurate (docs/accuracy.md). */
export const SEVEN_BIT_WEIGHTS: OperandRanges = { weight: U7, activation: I8 };
export const SEVEN_BIT_ACTIVATIONS: OperandRanges = { weight: I8, activation: U7 };

/** Rounding of position keys and queries. They have no activation statistics, which GPTQ would need. */
const POSITION_ROUNDING: RoundingOptions = { ...ROUND_TO_NEAREST, clipping: true };

export interface EdgeOptions {
  readonly tableBits?: 8 | 4;
  readonly operands?: OperandRanges;
  /** Size of the groups of 4-bit weights. Default: weights of 7 bits. */
  readonly group?: WeightGroup;
}

/**
 * Makes the scheme of the edge engine, which has integer kernels for every MatMul, including the two in attention.
 * Weights have a scale and a zero point for each output channel. Activations have a scale and a zero point for each
 * token. Tables have a scale for each row, and 4-bit tables a multiplier for each 16 numbers too.
 */
export function int8Edge({ tableBits = 8, operands = SEVEN_BIT_WEIGHTS, group }: EdgeOptions = {}): QuantizationScheme {
  const { weight: range, activation } = operands;
  const weights = { ...range, symmetric: false };
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
  /** Quantizes position keys or position queries as one linear layer, with an output for each head and bucket. */
  const positionWeights = (graph: Graph, name: string, term: RelativeTerm | undefined): (Value | undefined)[] => {
    if (!term) return [undefined, undefined, undefined, undefined];
    const { x, table } = term;
    const flat = graph.constant(`${name}.table`, withHeadsAsOutputs(table.constant));
    const layer = { name, x, weight: flat as LinearLayer["weight"], bias: undefined };
    const rounded = quantizeWeight(flat.constant as Tensor, weights, POSITION_ROUNDING, undefined);
    const { weight, scale, zeroPoint } = quantized(graph, layer, rounded);
    return [x, weight, scale, zeroPoint];
  };
  const positionScores = (graph: Graph, name: string, terms: RelativeTerms, heads: Attribute | undefined): Value => {
    const inputs = [
      terms.buckets,
      ...positionWeights(graph, `${name}.content_to_position`, terms.ofQueries),
      ...positionWeights(graph, `${name}.position_to_content`, terms.ofKeys),
    ];
    return graph.add("DynamicQuantizePositionScores", inputs.slice(0, terms.ofKeys ? inputs.length : 5), {
      name: `${name}.positions`,
      domain: EDGE,
      attributes: { ...(heads && { num_heads: heads }) },
    }).output;
  };
  return {
    weights: { ...weights, ...(group && { group }) },
    linearLayer(graph, layer, quantizedWeight) {
      const { weight, scale, zeroPoint, biasCorrection } = quantized(graph, layer, quantizedWeight);
      const inputs = [layer.x, weight, scale, zeroPoint, correctedBias(graph, layer, biasCorrection)];
      return graph.add("DynamicQuantizeMatMul", inputs, {
        name: layer.name,
        domain: EDGE,
        attributes: {
          activation_min: int(activation.min),
          activation_max: int(activation.max),
          ...(group && { group: int(group) }),
        },
      }).output;
    },
    attention(graph, { name, attributes }, { query, key, value, bias }) {
      const { num_heads, scale } = attributes;
      const terms = bias && relativeTerms(bias);
      const added = terms ? positionScores(graph, name, terms, num_heads) : bias;
      return graph.add("DynamicQuantizeAttention", [query, key, value, added], {
        name,
        domain: EDGE,
        attributes: { ...(num_heads && { num_heads }), ...(scale && { scale }) },
      }).output;
    },
    minTableElements: 0,
    embeddingLookup: tableBits === 4 ? levelLookup : blockLookup((width) => ({ bits: 8, block: width })),
  };
}

/** Arranges a table [heads, size, buckets] as the weight of a linear layer, [size, heads · buckets]. */
function withHeadsAsOutputs(table: Tensor): Tensor {
  const [heads = 0, size = 0, buckets = 0] = table.shape;
  const values = toFloat32(table);
  const weight = new Float32Array(values.length);
  for (let head = 0; head < heads; head++) {
    for (let i = 0; i < size; i++) {
      const from = (head * size + i) * buckets;
      weight.set(values.subarray(from, from + buckets), (i * heads + head) * buckets);
    }
  }
  return tensor("float32", [size, heads * buckets], weight);
}
