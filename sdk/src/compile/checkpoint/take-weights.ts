import { BertEdgeError } from "../../artifact/error.ts";
import { areFinite } from "../../runtime/are-finite.ts";
import { elementCount, lazyTensor, reading, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import type { LinearName } from "./families/family.ts";
import { missingTensor } from "./missing-tensor.ts";

/** An encoder's configuration and weights, and the folder that they come from. */
export interface Encoder {
  readonly folder: string;
  readonly config: EncoderConfig;
  readonly weights: ReadonlyMap<string, Tensor>;
}

/** A linear layer y = x · weightᵀ + bias, as torch.nn.Linear stores it: weight [out, in], bias [out], float32. */
export interface LinearWeights {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
}

/** Scale and shift of a layer normalization, each [width], float32. */
export interface LayerNormWeights {
  readonly gamma: Tensor;
  readonly beta: Tensor | undefined;
}

/** Picks a checkpoint's tensors by name, checks their shapes, and converts them to float32. */
export type WeightTaker = ReturnType<typeof weightTaker>;

/**
 * Creates a `WeightTaker`. Its methods throw `checkpoint_invalid` with the name of a tensor that is missing, that has
 * another shape than the caller wants, or that holds NaN or infinite numbers.
 *
 * @param prefix put before every tensor name
 */
export function weightTaker({ folder, weights }: Encoder, prefix: string) {
  const taken = new Map<string, Tensor>();
  const read = (name: string, shape: number[]): Tensor => {
    const found = weights.get(prefix + name);
    const wants = `${prefix}${name} of shape [${shape}]`;
    if (!found) throw missingTensor(folder, prefix + name, shape, [...weights.keys()]);
    const hint = "config.json and the weights must come from the same model.";
    if (found.shape.join() !== shape.join()) {
      throw new BertEdgeError(
        "checkpoint_invalid",
        `${folder} should have the tensor ${wants}, but its shape is [${found.shape}].`,
        { hint },
      );
    }
    if (!reading(found, (read) => areFinite(toFloat32(read)))) {
      throw new BertEdgeError("checkpoint_invalid", `${folder}: ${prefix}${name} holds NaN or infinite numbers.`, {
        hint: "The training diverged or the file is damaged: use an earlier checkpoint, or download the file again.",
      });
    }
    if (found.dtype === "float32") return found;
    return lazyTensor("float32", shape, () => tensor("float32", shape, reading(found, toFloat32)).data);
  };
  const take = (name: string, ...shape: number[]): Tensor => {
    const value = taken.get(name) ?? read(name, shape);
    taken.set(name, value);
    return value;
  };
  /**
   * Takes the weight or bias of a linear layer. The checkpoint stores it as one tensor, or as some rows of a tensor
   * that several linear layers share.
   */
  const part = (name: LinearName, kind: "weight" | "bias", shape: [number, ...number[]]): Tensor => {
    if (typeof name === "string") return take(`${name}.${kind}`, ...shape);
    const [rows, ...columns] = shape;
    const whole = take(`${name.name}.${kind}`, rows * name.parts, ...columns);
    const size = elementCount(shape);
    const rowsOfPart = () => reading(whole, (read) => toFloat32(read).slice(name.part * size, (name.part + 1) * size));
    return lazyTensor("float32", shape, () => tensor("float32", shape, rowsOfPart()).data);
  };
  return {
    tensor: take,
    linear: (name: LinearName, outputs: number, inputs: number, hasBias: boolean): LinearWeights => ({
      weight: part(name, "weight", [outputs, inputs]),
      bias: hasBias ? part(name, "bias", [outputs]) : undefined,
    }),
    layerNorm: (name: string, width: number, hasBias: boolean): LayerNormWeights => ({
      gamma: take(`${name}.weight`, width),
      beta: hasBias ? take(`${name}.bias`, width) : undefined,
    }),
  };
}

/**
 * Repeats the heads of a linear layer that several heads of queries share, as in grouped-query attention
 * (https://arxiv.org/abs/2305.13245). onnxruntime's MultiHeadAttention needs as many heads of keys and values as of queries.
 *
 * @param layer layer with `from` heads
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
