import * as ort from "onnxruntime-node";
import { symbol } from "../../sdk/src/build/graph/dim.ts";
import { Graph } from "../../sdk/src/build/graph/graph.ts";
import { tensor } from "../../sdk/src/build/graph/tensor.ts";
import { type Form, quantizeGraph } from "../../sdk/src/build/quantize/quantize-graph.ts";
import { inferShapes } from "../../sdk/src/build/shapes/infer.ts";
import type { Tensors } from "./run-model.ts";
import { randomNumbers } from "./seeded.ts";

/** Random numbers from −1 to 1, columns of very different size. */
export function randomMatrix(inputs: number, outputs: number, seed: number): Float32Array<ArrayBuffer> {
  const random = randomNumbers(seed);
  return Float32Array.from({ length: inputs * outputs }, (_, at) => (2 * random() - 1) * 4 ** ((at % outputs) % 3));
}

/** x [n, in] · weight [in, out], in a form. */
export function oneProduct(form: Form, weight: Float32Array<ArrayBuffer>, inputs: number): Graph {
  const graph = new Graph("product");
  graph.opsets.set("", 17);
  const x = graph.input("x", { dtype: "float32", shape: [symbol("n"), inputs] });
  const matrix = graph.constant("weight", tensor("float32", [inputs, weight.length / inputs], weight));
  const value = graph.add("MatMul", [x, matrix], { name: "dense" }).output;
  graph.outputs.push({ name: "y", value, declaration: undefined });
  inferShapes(graph);
  return quantizeGraph(graph, form);
}

/** Numbers [rows, width] as the input x. */
export const rowsOf = (x: Float32Array, width: number): Tensors => ({
  x: new ort.Tensor("float32", x, [x.length / width, width]),
});

/** A row for each input, with 1 there. */
export const identity = (width: number): Float32Array =>
  Float32Array.from({ length: width * width }, (_, at) => (at % (width + 1) === 0 ? 1 : 0));

/** Its result, [n, out], which must have this many numbers. */
export function resultOf({ y }: Tensors, length: number): Float32Array {
  if (y?.data.length !== length) throw new RangeError(`${y?.data.length} numbers instead of ${length}`);
  return y.data as Float32Array;
}
