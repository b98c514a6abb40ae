import type * as ort from "onnxruntime-node";
import { toOrt } from "#sdk/compile/evaluate/ort-session.ts";
import { type Dim, substituteSymbols } from "#sdk/compile/graph/dim.ts";
import type { Value } from "#sdk/compile/graph/node.ts";
import { elementCount, elementSize, type Tensor } from "#sdk/compile/graph/tensor.ts";
import { toOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import { inferShapes } from "#sdk/compile/shapes/infer-shapes.ts";
import { Sketch } from "../fixtures/sketch.ts";
import { runModel } from "./run-model.ts";

export type Draw = (sketch: Sketch) => void;
export type Sizes = Readonly<Record<string, number>>;

export interface OracleOptions {
  readonly opset?: number;
  readonly sizes?: readonly Sizes[];
}

/** Inferred properties that contradict onnxruntime's results, and values whose properties are unknown. */
export interface Findings {
  readonly wrong: readonly string[];
  readonly unknown: readonly string[];
}

/**
 * Several sizes for each dynamic dimension, including a batch of 1. They reveal a dynamic dimension that is wrongly
 * inferred as a constant.
 */
const SIZES: readonly Sizes[] = [
  { b: 2, s: 5 },
  { b: 3, s: 8 },
  { b: 1, s: 6 },
];

/** Compares the inferred type, shape and content of every value of a sketch with onnxruntime's results. */
export async function compareWithOnnxruntime(
  draw: Draw,
  { opset = 17, sizes = SIZES }: OracleOptions = {},
): Promise<Findings> {
  const sketch = new Sketch(opset);
  const { graph } = sketch;
  draw(sketch);
  const values = [...graph.nodes].flatMap(({ outputs }) => outputs).filter((value) => value !== undefined);
  for (const value of values) sketch.output(value, value.name);
  // Encode the model before the inference, so that the file has no inferred types and shapes.
  const model = encodeModel(toOnnx(graph)).finish();
  const feeds = sizes.map((at) =>
    Object.fromEntries(graph.inputs.map((input) => [input.name, toOrt(inputTensor(input, at))])),
  );
  inferShapes(graph);
  const results = await runModel(model, feeds);
  return {
    wrong: results.flatMap((tensors, i) =>
      values.flatMap((value) => contradictions(value, tensors[value.name] as ort.Tensor, sizes[i] ?? {})),
    ),
    unknown: values.filter(({ dtype, shape }) => !dtype || !shape).map(({ name }) => name),
  };
}

/** Makes a tensor of zeros, which are valid as indices, masks and numbers. */
function inputTensor({ dtype = "float32", shape = [] }: Value, sizes: Sizes): Tensor {
  const concrete = shape.map((dim) => Number(at(dim, sizes)));
  return { dtype, shape: concrete, data: new Uint8Array(elementCount(concrete) * elementSize[dtype]) };
}

const at = (dim: Dim, sizes: Sizes): Dim => substituteSymbols(dim, (name) => sizes[name] ?? Number.NaN);

export function contradictions({ name, dtype, shape, content }: Value, actual: ort.Tensor, sizes: Sizes): string[] {
  const say = (what: string, inferred: unknown, real: unknown) =>
    `${what} of ${name} is ${real}, not ${inferred} (${JSON.stringify(sizes)})`;
  const wrong: string[] = [];
  if (dtype !== undefined && dtype !== actual.type) wrong.push(say("type", dtype, actual.type));
  if (shape && `${shape.map((dim) => at(dim, sizes))}` !== `${actual.dims}`) {
    wrong.push(say("shape", `[${shape}]`, `[${actual.dims}]`));
  }
  if (content && `${content.map((dim) => at(dim, sizes))}` !== `${Array.from(actual.data as Int32Array, Number)}`) {
    wrong.push(say("content", `[${content}]`, `[${actual.data}]`));
  }
  return wrong;
}
