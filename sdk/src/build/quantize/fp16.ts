import { int } from "../graph/attribute.ts";
import { copyGraph } from "../graph/copy.ts";
import type { Graph } from "../graph/graph.ts";
import { elementCount, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import { inferShapes } from "../shapes/infer.ts";

/** TensorProto.DataType */
const FLOAT = 1;
const FLOAT16 = 10;

/**
 * Half precision for GPUs: every float32 weight becomes float16, and with it every value computed from them. Outputs
 * are cast back, so that inputs and outputs stay as declared. onnxruntime's GPU kernels keep the statistics of
 * layer normalisation and softmax in float32.
 */
export function toFp16(fused: Graph): Graph {
  const graph = copyGraph(fused);
  const single = graph.outputs.filter(({ value }) => value.dtype === "float32");
  for (const value of graph.constants()) {
    if (value.constant?.dtype === "float32") graph.replace(value, graph.constant(value.name, half(value.constant)));
  }
  for (const node of graph.sorted()) {
    if (!node.is("Cast") || node.int("to") !== FLOAT) continue;
    const cast = graph.add("Cast", node.inputs, { name: node.name, attributes: { to: int(FLOAT16) } });
    graph.replace(node.output, cast.output);
  }
  graph.prune();
  inferShapes(graph);
  for (const output of single) {
    output.value = graph.add("Cast", [output.value], {
      name: `${output.name}/float32`,
      attributes: { to: int(FLOAT) },
    }).output;
  }
  inferShapes(graph);
  return graph;
}

/** Single numbers beyond half precision become its largest: masks are written with the lowest that float32 has. */
function half(value: Tensor): Tensor {
  const limit = elementCount(value.shape) === 1 ? MAX_HALF : Number.POSITIVE_INFINITY;
  const values = Float16Array.from(toFloat32(value), (x) => Math.min(Math.max(x, -limit), limit));
  return tensor("float16", value.shape, values);
}

const MAX_HALF = 65_504;
