import type { Value } from "../../graph/node.ts";
import { elementCount, elementSize, lazyTensor, reading, type Tensor } from "../../graph/tensor.ts";
import { vectorOf } from "../../rewrite/values.ts";

/** A linear layer: x · W + b with constants W [in, out] and b [out]. */
export interface Projection {
  readonly x: Value;
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
}

/** Returns the linear layer that computes a value; undefined if no linear layer does. */
export function projectionOf(value: Value): Projection | undefined {
  const node = value.producer;
  const width = value.shape?.at(-1);
  if (node?.is("Add")) {
    const bias = node.inputs.find((input) => vectorOf(input, width));
    const matMul = node.inputs.find((input) => input !== bias);
    const layer = bias?.constant && matMul && projectionOf(matMul);
    return layer && !layer.bias ? { ...layer, bias: bias.constant } : undefined;
  }
  if (!node?.is("MatMul")) return undefined;
  const [x, weight] = node.inputs;
  return x && weight?.constant?.shape.length === 2 ? { x, weight: weight.constant, bias: undefined } : undefined;
}

/** Joins selected columns of constants [rows, …] into one constant [rows, columns]. A vector counts as one row. */
export function gatherColumns(
  parts: readonly { readonly from: Tensor; readonly columns: readonly number[] }[],
): Tensor {
  const [first] = parts;
  const { dtype = "float32", shape = [] } = first?.from ?? {};
  const rows = shape.length === 2 ? (shape[0] ?? 0) : 1;
  const width = parts.reduce((sum, { columns }) => sum + columns.length, 0);
  const bytes = elementSize[dtype];
  const gathered = () => {
    const all = new Uint8Array(rows * width * bytes);
    let offset = 0;
    for (const { from, columns } of parts) {
      const stride = elementCount(from.shape) / rows;
      reading(from, ({ data }) => {
        for (const { start, length } of runs(columns)) {
          for (let row = 0; row < rows; row++) {
            const source = (row * stride + start) * bytes;
            all.set(data.subarray(source, source + length * bytes), (row * width + offset) * bytes);
          }
          offset += length;
        }
      });
    }
    return all;
  };
  return lazyTensor(dtype, shape.length === 2 ? [rows, width] : [width], gathered);
}

/** Finds runs of consecutive columns. */
function* runs(columns: readonly number[]): Generator<{ start: number; length: number }> {
  for (let i = 0; i < columns.length; ) {
    const start = columns[i] as number;
    let length = 1;
    while (columns[i + length] === start + length) length++;
    yield { start, length };
    i += length;
  }
}
