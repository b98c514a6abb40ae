import { BertEdgeError } from "#sdk/artifact/error.ts";
import { MICROSOFT, type Node } from "#sdk/compile/graph/node.ts";
import { type ActivationFunction, fastGelu, gelu, relu, sigmoid, swish, tanh } from "../reference/activation.ts";
import { fround, sumInLanes } from "../reference/float32.ts";
import { layerNormRows, rmsNormRows } from "../reference/layer-norm.ts";
import { floatData, type KernelInputs, type KernelOutputs, type NodeKernel, type NodeTensor } from "./node-kernel.ts";

/** Reference kernels of the float32 operators of fused encoders, by domain and operator. */
export const floatKernels: Readonly<Record<string, NodeKernel>> = {
  ":Add": (node) => elementwise(node, (a, b) => a + b),
  ":Mul": (node) => elementwise(node, (a, b) => a * b),
  ":Relu": () => activated(relu),
  ":Tanh": () => activated(tanh),
  ":Sigmoid": () => activated(sigmoid),
  ":Gelu": (node) => activated(node.string("approximate") === "tanh" ? fastGelu : gelu),
  [`${MICROSOFT}:Gelu`]: () => activated(gelu),
  [`${MICROSOFT}:BiasGelu`]: () => activated(gelu),
  [`${MICROSOFT}:FastGelu`]: () => activated(fastGelu),
  [`${MICROSOFT}:QuickGelu`]: (node) => activated(swish(node.float("alpha") ?? 1.702)),
  ":LayerNormalization":
    (node) =>
    ([x, gamma, beta]) =>
      normalized(node, floatData(x), gamma, beta, x?.shape),
  ":SimplifiedLayerNormalization":
    (node) =>
    ([x, gamma]) =>
      rmsNormalized(node, floatData(x), gamma, x?.shape),
  [`${MICROSOFT}:SkipLayerNormalization`]: skipLayerNormalization,
  [`${MICROSOFT}:SkipSimplifiedLayerNormalization`]: skipSimplifiedLayerNormalization,
  ":MatMul": () => matMul,
  ":Gather": gather,
  ":ReduceMean": () => meanOfTokens,
  ":Slice": () => slice,
  ":Split": split,
  [`${MICROSOFT}:RotaryEmbedding`]: () => rotate,
};

/** Combines a and b element by element. The shape of one must end with the shape of the other. */
function elementwise(node: Node, combine: (a: number, b: number) => number): (inputs: KernelInputs) => KernelOutputs {
  return ([a, b]) => {
    const [wide, narrow] = floatData(a).length >= floatData(b).length ? [a, b] : [b, a];
    const shape = wide?.shape ?? [];
    if (!endsWith(shape, withoutOnes(narrow?.shape ?? []))) throw unsupportedShapes(node, shape, narrow?.shape ?? []);
    const [x, y] = [floatData(wide), floatData(narrow)];
    return [{ shape, data: x.map((value, i) => combine(value, y[i % y.length] as number)) }];
  };
}

/** Drops leading dimensions of size 1. */
const withoutOnes = (shape: readonly number[]) => shape.slice([...shape, 0].findIndex((size) => size !== 1));

const endsWith = (shape: readonly number[], end: readonly number[]) =>
  end.every((size, i) => size === shape[shape.length - end.length + i]);

const unsupportedShapes = ({ opType, origin }: Node, ...shapes: readonly (readonly number[])[]) =>
  new BertEdgeError(
    "engine_unsupported",
    `The edge engine has no kernel for ${opType} (node ${origin}) with shapes ${shapes.map((shape) => `[${shape}]`).join(" and ")}.`,
    { hint: "Use onnxruntime-web for this model." },
  );

/** Applies an activation to x, or to x + bias. */
function activated(activation: ActivationFunction): (inputs: KernelInputs) => KernelOutputs {
  return ([x, bias]) => {
    const offset = bias && floatData(bias);
    const data = floatData(x).map((value, i) =>
      activation(offset ? fround(value + (offset[i % offset.length] as number)) : value),
    );
    return [{ shape: x?.shape ?? [], data }];
  };
}

function normalized(
  node: Node,
  x: Float32Array,
  gamma: NodeTensor | undefined,
  beta: NodeTensor | undefined,
  shape: readonly number[] = [],
): KernelOutputs {
  const epsilon = node.float("epsilon") ?? 1e-5;
  return [{ shape, data: layerNormRows(x, floatData(gamma), beta && floatData(beta), epsilon) }];
}

function rmsNormalized(
  node: Node,
  x: Float32Array,
  gamma: NodeTensor | undefined,
  shape: readonly number[] = [],
): KernelOutputs {
  return [{ shape, data: rmsNormRows(x, floatData(gamma), node.float("epsilon") ?? 1e-5) }];
}

/** Computes LayerNorm(x + bias + skip). The fourth output is x + bias + skip. */
function skipLayerNormalization(node: Node): (inputs: KernelInputs) => KernelOutputs {
  return ([x, skip, gamma, beta, bias]) => {
    const total = skipTotal(x, skip, bias);
    const [result] = normalized(node, total, gamma, beta, x?.shape);
    return [result, undefined, undefined, { shape: x?.shape ?? [], data: total }];
  };
}

/** Computes RMSNorm(x + bias + skip). The fourth output is x + bias + skip. */
function skipSimplifiedLayerNormalization(node: Node): (inputs: KernelInputs) => KernelOutputs {
  return ([x, skip, gamma, bias]) => {
    const total = skipTotal(x, skip, bias);
    const [result] = rmsNormalized(node, total, gamma, x?.shape);
    return [result, undefined, undefined, { shape: x?.shape ?? [], data: total }];
  };
}

function skipTotal(x: NodeTensor | undefined, skip: NodeTensor | undefined, bias: NodeTensor | undefined) {
  const [other, offset] = [floatData(skip), bias && floatData(bias)];
  return floatData(x).map((value, i) => {
    const biased = offset ? fround(value + (offset[i % offset.length] as number)) : value;
    return biased + (other[i % other.length] as number);
  });
}

/** Multiplies x [.., k] by the matrix w [k, n]. */
function matMul([x, w]: KernelInputs): KernelOutputs {
  const [k = 0, n = 0] = w?.shape ?? [];
  const [a, b] = [floatData(x), floatData(w)];
  const data = new Float32Array((a.length / k) * n);
  for (let at = 0; at < data.length; at++) {
    const [row, column] = [Math.floor(at / n) * k, at % n];
    data[at] = sumInLanes(k, (i) => (a[row + i] as number) * (b[i * n + column] as number));
  }
  return [{ shape: [...(x?.shape.slice(0, -1) ?? []), n], data }];
}

/** Gathers entries of x along an axis. */
function gather(node: Node): (inputs: KernelInputs) => KernelOutputs {
  return ([x, indices]) => {
    const shape = x?.shape ?? [];
    const axis = ((node.int("axis") ?? 0) + shape.length) % shape.length;
    const size = shape[axis] as number;
    const width = shape.slice(axis + 1).reduce((count, n) => count * n, 1);
    const outer = shape.slice(0, axis).reduce((count, n) => count * n, 1);
    const chosen = Array.from(indices?.data ?? [], (index) => (index + size) % size);
    const data = new Float32Array(outer * chosen.length * width);
    for (let block = 0; block < outer; block++) {
      chosen.forEach((index, i) => {
        const from = (block * size + index) * width;
        data.set(floatData(x).subarray(from, from + width), (block * chosen.length + i) * width);
      });
    }
    return [{ shape: [...shape.slice(0, axis), ...(indices?.shape ?? []), ...shape.slice(axis + 1)], data }];
  };
}

/** Averages the rows of x [1, tokens, width]. */
function meanOfTokens([x]: KernelInputs): KernelOutputs {
  const [batch = 1, tokens = 1, width = 1] = x?.shape ?? [];
  const rows = floatData(x);
  const data = Float32Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let row = 0; row < tokens; row++) sum = fround(sum + (rows[row * width + column] as number));
    return sum / tokens;
  });
  return [{ shape: [batch, width], data }];
}

/** Slices x along the given axes. Negative bounds count from the end. */
function slice([x, starts, ends, axes]: KernelInputs): KernelOutputs {
  const result = Array.from(starts?.data ?? []).reduce((part: NodeTensor, from, i) => {
    const axis = (axes?.data[i] ?? i) as number;
    return between(part, axis, from, ends?.data[i] as number);
  }, x as NodeTensor);
  return [result];
}

function between(x: NodeTensor, axis: number, ...bounds: [from: number, to: number]): NodeTensor {
  const at = axis < 0 ? axis + x.shape.length : axis;
  const extent = x.shape[at] as number;
  const inside = (bound: number) => Math.min(Math.max(bound < 0 ? bound + extent : bound, 0), extent);
  const [from, to] = bounds.map(inside) as typeof bounds;
  const width = x.shape.slice(at + 1).reduce((count, n) => count * n, 1);
  const [before, size] = [extent * width, (to - from) * width];
  const data = new Float32Array((x.data.length / before) * size);
  for (let block = 0; block * size < data.length; block++) {
    const start = block * before + from * width;
    data.set(x.data.subarray(start, start + size), block * size);
  }
  return { shape: x.shape.with(at, to - from), data };
}

/** Splits the last axis into equal parts. */
function split({ outputs }: Node): (inputs: KernelInputs) => KernelOutputs {
  return ([x]) => {
    const size = (x?.shape.at(-1) ?? 0) / outputs.length;
    return outputs.map((_, part) => between(x as NodeTensor, -1, part * size, (part + 1) * size));
  };
}

/**
 * Rotates each pair (x[i], x[i + size/2]) of a head by the angle for the token's position:
 * https://arxiv.org/abs/2104.09864
 */
function rotate([x, , cosines, sines]: KernelInputs): KernelOutputs {
  const half = cosines?.shape.at(-1) ?? 0;
  const size = 2 * half;
  const width = x?.shape.at(-1) ?? 0;
  const [values, cos, sin] = [floatData(x), floatData(cosines), floatData(sines)];
  const data = values.map((value, at) => {
    const token = Math.floor(at / width);
    const i = at % size;
    const angle = token * half + (i % half);
    const other = values[i < half ? at + half : at - half] as number;
    const rotated = fround(other * (sin[angle] as number));
    return fround(value * (cos[angle] as number)) + (i < half ? -rotated : rotated);
  });
  return [{ shape: x?.shape ?? [], data }];
}
