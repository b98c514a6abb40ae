import { I8, type Range, U7 } from "../../../runtime/engine/wasm/reference/quantize-rows.ts";
import { int } from "../../graph/attribute.ts";
import { EDGE } from "../../graph/edge-operators.ts";
import { tensor } from "../../graph/tensor.ts";
import type { Form } from "../quantize-graph.ts";
import { blockLookup } from "../tables/block-lookup.ts";
import { biasOf } from "../weights/bias.ts";
import { oncePerWeight, type Weights } from "../weights/weights.ts";

/** Which operand has the 7 bits that the matrix instruction allows one of them. */
export interface Operands {
  readonly weight: Range;
  readonly activation: Range;
}

/** More accurate than the other order at the same speed: docs/accuracy.md. */
export const SEVEN_BIT_WEIGHTS: Operands = { weight: U7, activation: I8 };
export const SEVEN_BIT_ACTIVATIONS: Operands = { weight: I8, activation: U7 };

/** Numbers of a row that share a step where a table has 4 bits. */
const INT4_BLOCK = 32;

/**
 * What our own engine computes: every matrix product in integers, attention's two among them. Weights with scale and zero
 * point per output channel, activations per token, tables with a step per row in 8 bits and per 32 numbers in 4.
 */
export function edge(weights: Weights, tableBits: 8 | 4 = 8, operands: Operands = SEVEN_BIT_WEIGHTS): Form {
  const { weight: range, activation } = operands;
  const quantized = oncePerWeight((graph, product) => {
    const { levels, step, zero, shift } = weights(product, { ...range, symmetric: false });
    const { name, constant } = product.weight;
    const [inputs = 0, outputs = 0] = constant.shape;
    const rows = new (range.least < 0 ? Int8Array : Uint8Array)(levels.length);
    for (let at = 0; at < rows.length; at++) {
      rows[at] = levels[(at % inputs) * outputs + Math.floor(at / inputs)] as number;
    }
    const dtype = range.least < 0 ? "int8" : "uint8";
    return {
      weight: graph.constant(`${name}.${dtype}`, tensor(dtype, [outputs, inputs], rows)),
      scale: graph.constant(`${name}.scale`, tensor("float32", [outputs], step)),
      zero: graph.constant(`${name}.zero`, tensor("int32", [outputs], zero)),
      shift,
    };
  });
  return {
    product(graph, product) {
      const { weight, scale, zero, shift } = quantized(graph, product);
      return graph.add("DynamicQuantizeMatMul", [product.x, weight, scale, zero, biasOf(graph, product, shift)], {
        name: product.name,
        domain: EDGE,
        attributes: { activation_min: int(activation.least), activation_max: int(activation.greatest) },
      }).output;
    },
    context(graph, { name, attributes }, { query, key, value, bias }) {
      const { num_heads, scale } = attributes;
      return graph.add("DynamicQuantizeAttention", [query, key, value, bias], {
        name,
        domain: EDGE,
        attributes: { ...(num_heads && { num_heads }), ...(scale && { scale }) },
      }).output;
    },
    leastTable: 0,
    lookup: blockLookup((width) => (tableBits === 8 ? { bits: 8, block: width } : int4Table(width))),
  };
}

const int4Table = (width: number) => (width % INT4_BLOCK === 0 ? ({ bits: 4, block: INT4_BLOCK } as const) : undefined);
