import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { elementCount, type Tensor, tensor } from "#sdk/compile/graph/tensor.ts";
import { dataTypeOf } from "#sdk/compile/onnx/tensor-proto.ts";
import type { GraphProto, ValueInfoProto } from "#sdk/compile/proto/onnx-messages.ts";
import type { Tensors } from "./run-model.ts";

export interface FeedOptions {
  readonly random: () => number;
  /** Returns a size for a dynamic dimension. If dimension 0 of input `ids` has no name, `name` is "ids.0". */
  readonly sizeOf: (name: string) => number;
  /** Exclusive maximum of random integers. */
  readonly below: number;
}

/** Draws a random tensor for every required input, with the declared type and shape of the input. */
export function randomFeeds(graph: GraphProto, options: FeedOptions): Tensors {
  const initialized = new Set(graph.initializer.map(({ name }) => name));
  const required = graph.input.filter(({ name }) => !initialized.has(name));
  return Object.fromEntries(required.map((input) => [input.name ?? "", toOrt(randomTensor(input, options))]));
}

function randomTensor({ name, type }: ValueInfoProto, { random, sizeOf, below }: FeedOptions): Tensor {
  const { elemType, shape } = type?.tensorType ?? {};
  const dims = (shape?.dim ?? []).map(({ dimValue, dimParam }, axis) =>
    dimValue !== undefined && dimValue >= 0n ? Number(dimValue) : sizeOf(dimParam || `${name}.${axis}`),
  );
  const length = elementCount(dims);
  const fraction = () => 2 * random() - 1;
  const whole = () => Math.floor(random() * below);
  switch (dataTypeOf(elemType)) {
    case "float32":
      return tensor("float32", dims, Float32Array.from({ length }, fraction));
    case "float16":
      return tensor("float16", dims, Float16Array.from({ length }, fraction));
    case "int32":
      return tensor("int32", dims, Int32Array.from({ length }, whole));
    case "int64":
      return tensor(
        "int64",
        dims,
        BigInt64Array.from({ length }, () => BigInt(whole())),
      );
    default:
      throw new RangeError(`Cannot draw values for input ${name}: its type is not supported.`);
  }
}
