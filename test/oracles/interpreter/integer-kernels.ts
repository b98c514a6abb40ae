import { MICROSOFT, type Node } from "#sdk/compile/graph/node.ts";
import { EDGE } from "#sdk/compile/graph/operators.ts";
import { numbersOf, type Tensor, toFloat32 } from "#sdk/compile/graph/tensor.ts";
import { quantizedAttention } from "../reference/attention.ts";
import { fround } from "../reference/float32.ts";
import type { Bytes, IntegerProduct } from "../reference/integer-product.ts";
import { type IntegerWeight, quantizedLinear } from "../reference/linear.ts";
import { positionScores } from "../reference/position-scores.ts";
import { floatData, type KernelInputs, type KernelOutputs, type NodeKernel, type NodeTensor } from "./node-kernel.ts";

/** Reference kernels of the quantized operators, by domain and operator. */
export const integerKernels: Readonly<Record<string, NodeKernel>> = {
  [`${EDGE}:DynamicQuantizeMatMul`]: linear,
  [`${EDGE}:DynamicQuantizeAttention`]: attention,
  [`${EDGE}:DynamicQuantizePositionScores`]: positions,
  [`${MICROSOFT}:GatherBlockQuantized`]: lookup,
  [`${EDGE}:LookupLevels`]: lookupLevels,
};

function linear(node: Node, product: IntegerProduct): (inputs: KernelInputs) => Promise<KernelOutputs> {
  const weight = weightOf(node);
  const range = { min: node.int("activation_min") as number, max: node.int("activation_max") as number };
  return async ([x]) => {
    const data = await quantizedLinear(floatData(x), weight, range, product);
    return [{ shape: [...(x?.shape.slice(0, -1) ?? []), weight.scales.length], data }];
  };
}

function weightOf({ inputs }: Node): IntegerWeight {
  const [, values, scales, zeroPoints, bias] = inputs.map((input) => input?.constant) as [
    undefined,
    Tensor,
    Tensor,
    Tensor,
    Tensor?,
  ];
  return integerWeight(values, scales, zeroPoints, bias);
}

function integerWeight(values: Tensor, scales: Tensor, zeroPoints: Tensor, bias: Tensor | undefined): IntegerWeight {
  const bytes = bytesOf(values);
  const [outputs, width] = values.shape as [number, number];
  const sums = new Int32Array(outputs);
  for (let at = 0; at < bytes.length; at++) {
    const row = Math.floor(at / width);
    sums[row] = (sums[row] as number) + (bytes[at] as number);
  }
  return {
    values: bytes,
    scales: toFloat32(scales),
    zeroPoints: Int32Array.from(numbersOf(zeroPoints)),
    sums,
    bias: bias && toFloat32(bias),
  };
}

const bytesOf = ({ dtype, data }: Tensor): Bytes =>
  dtype === "int8" ? new Int8Array(data.buffer, data.byteOffset, data.length) : data;

function attention(node: Node, product: IntegerProduct): (inputs: KernelInputs) => Promise<KernelOutputs> {
  const heads = node.int("num_heads") as number;
  return async ([query, key, value, bias]) => {
    const size = (query?.shape.at(-1) as number) / heads;
    const data = await quantizedAttention(
      {
        query: floatData(query),
        key: floatData(key),
        value: floatData(value),
        bias: bias && floatData(bias),
        heads,
        size,
        scale: node.float("scale") ?? 1 / Math.sqrt(size),
      },
      product,
    );
    return [{ shape: query?.shape ?? [], data }];
  };
}

function positions(node: Node, product: IntegerProduct): (inputs: KernelInputs) => Promise<KernelOutputs> {
  const heads = node.int("num_heads") as number;
  const [ofQueries, ofKeys] = [1, 5].map((first) => weightsByHead(node, first, heads));
  return async ([buckets, query, , , , key]) => {
    const factor = (x: NodeTensor | undefined, weights: IntegerWeight[] | undefined) =>
      weights && { x: floatData(x), weights };
    const tokens = buckets?.shape.at(-1) as number;
    const chosen = buckets?.data ?? [];
    const data = await positionScores(factor(query, ofQueries), factor(key, ofKeys), chosen, product);
    return [{ shape: [1, heads, tokens, tokens], data }];
  };
}

/** Splits position keys or position queries into one weight matrix for each head. */
function weightsByHead({ inputs }: Node, first: number, heads: number): IntegerWeight[] | undefined {
  const [values, scales, zeroPoints] = [1, 2, 3].map((i) => inputs[first + i]?.constant);
  if (!values || !scales || !zeroPoints) return undefined;
  const whole = integerWeight(values, scales, zeroPoints, undefined);
  const count = whole.scales.length / heads;
  const size = whole.values.length / whole.scales.length;
  return Array.from({ length: heads }, (_, head) => {
    const [from, to] = [head * count, (head + 1) * count];
    return {
      values: whole.values.subarray(from * size, to * size),
      scales: whole.scales.subarray(from, to),
      zeroPoints: whole.zeroPoints.subarray(from, to),
      sums: whole.sums.subarray(from, to),
      bias: new Float32Array(count),
    };
  });
}

/**
 * Looks up rows of a table of onnxruntime with unsigned 8-bit or 4-bit elements. Each block of elements has its own scale. The zero
 * point is 128 for 8 bits and 8 for 4 bits.
 */
function lookup(node: Node): (inputs: KernelInputs) => KernelOutputs {
  const [table, , scales] = node.inputs.map((input) => input?.constant) as [Tensor, undefined, Tensor];
  const bits = node.int("bits") as number;
  const block = node.int("block_size") as number;
  const perByte = 8 / bits;
  const width = (table.shape[1] as number) * perByte;
  const scaleOfBlock = toFloat32(scales);
  const element = (at: number) =>
    ((table.data[Math.floor(at / perByte)] as number) >> ((at % perByte) * bits)) & (2 ** bits - 1);
  return ([, ids]) => {
    const data = Float32Array.from({ length: (ids?.data.length ?? 0) * width }, (_, i) => {
      const at = (ids?.data[Math.floor(i / width)] as number) * width + (i % width);
      return fround((element(at) - 2 ** (bits - 1)) * (scaleOfBlock[Math.floor(at / block)] as number));
    });
    return [{ shape: [...(ids?.shape ?? []), width], data }];
  };
}

/** The numbers that the codes of a 4-bit table of the edge engine stand for: 127 · (0.7 · x + 0.3 · x²), rounded, with both signs. */
const levels = Array.from({ length: 16 }, (_, code) => {
  const x = Math.abs(2 * code - 15) / 15;
  return Math.sign(2 * code - 15) * Math.round(127 * (0.7 * x + 0.3 * x * x));
});

/**
 * Looks up rows of a 4-bit table of the edge engine. A row has the codes of all its numbers, and then the multipliers of its blocks
 * of 16 numbers. The lower halves of a block's 8 bytes are the codes of its first 8 numbers.
 */
function lookupLevels(node: Node): (inputs: KernelInputs) => KernelOutputs {
  const [{ data: table }, , scales] = node.inputs.map((input) => input?.constant) as [Tensor, undefined, Tensor];
  const width = node.int("width") as number;
  const rowBytes = (width * 17) / 32;
  const scaleOfRow = toFloat32(scales);
  const half = (at: number, isUpper: boolean) => ((table[at] as number) >> (isUpper ? 4 : 0)) & 15;
  return ([, ids]) => {
    const data = Float32Array.from({ length: (ids?.data.length ?? 0) * width }, (_, i) => {
      const [row, column] = [ids?.data[Math.floor(i / width)] as number, i % width];
      const [block, within] = [Math.floor(column / 16), column % 16];
      const code = half(row * rowBytes + 8 * block + (within % 8), within >= 8);
      const multiplier = half(row * rowBytes + width / 2 + Math.floor(block / 2), block % 2 === 1);
      return fround((levels[code] as number) * fround(multiplier * (scaleOfRow[row] as number)));
    });
    return [{ shape: [...(ids?.shape ?? []), width], data }];
  };
}
