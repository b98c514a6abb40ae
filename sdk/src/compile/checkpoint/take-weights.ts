import { BertEdgeError } from "../../artifact/error.ts";
import { elementCount, lazyTensor, reading, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { Encoder } from "./checkpoint.ts";
import type { LinearName } from "./encoder-names.ts";

/** y = x · weightᵀ + bias, as torch.nn.Linear keeps it: weight [out, in], bias [out] if any, float32. */
export interface Linear {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
}

/** Gain and, if any, offset of a layer normalization, each of the width that it normalizes, float32. */
export interface LayerNorm {
  readonly gamma: Tensor;
  readonly beta: Tensor | undefined;
}

/** Picks a checkpoint's tensors by name, of the shapes that config.json gives them, in float32. */
export interface Taker {
  tensor(name: string, ...shape: number[]): Tensor;
  linear(name: LinearName, outputs: number, inputs: number, hasBias: boolean): Linear;
  layerNorm(name: string, width: number, hasBias: boolean): LayerNorm;
}

/**
 * @param prefix of every tensor's name
 * @throws BertEdgeError (the taker) `checkpoint_invalid` naming the tensor that is missing, of another shape, or not finite
 */
export function taker({ folder, weights }: Encoder, prefix: string): Taker {
  const taken = new Map<string, Tensor>();
  const read = (name: string, shape: number[]): Tensor => {
    const found = weights.get(prefix + name);
    const wants = `${prefix}${name} of shape [${shape}]`;
    const hint = "config.json and model.safetensors must come from the same model.";
    if (!found) throw new BertEdgeError("checkpoint_invalid", `${folder} has no tensor ${wants}.`, { hint });
    if (found.shape.join() !== shape.join()) {
      throw new BertEdgeError("checkpoint_invalid", `${folder} should have ${wants}, not [${found.shape}].`, { hint });
    }
    if (!reading(found, (read) => toFloat32(read).every(Number.isFinite))) {
      throw new BertEdgeError("checkpoint_invalid", `${folder}: ${prefix}${name} holds NaN or infinite numbers.`, {
        hint: "Its training diverged, or the file is damaged: take an earlier checkpoint or fetch it again.",
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
  /** Weight or bias of a linear map, from a tensor of its own or from its rows of a packed one. */
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
    linear: (name, outputs, inputs, hasBias) => ({
      weight: part(name, "weight", [outputs, inputs]),
      bias: hasBias ? part(name, "bias", [outputs]) : undefined,
    }),
    layerNorm: (name, width, hasBias) => ({
      gamma: take(`${name}.weight`, width),
      beta: hasBias ? take(`${name}.bias`, width) : undefined,
    }),
  };
}
