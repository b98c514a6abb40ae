import { copyGraph } from "../graph/copy-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { int } from "../graph/node.ts";
import { lazyTensor, reading, tensor, toFloat32 } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";

/**
 * Returns a copy of a graph that computes in float32 what the graph computes in float16. Its inputs and outputs have other
 * types where the graph's are float16.
 */
export function inFloat32(graph: Graph): Graph {
  const copy = copyGraph(graph);
  for (const input of copy.inputs) if (input.dtype === "float16") input.dtype = "float32";
  for (const value of [...copy.constants()]) {
    const { constant } = value;
    if (constant?.dtype !== "float16") continue;
    const { shape } = constant;
    const whole = lazyTensor("float32", shape, () => tensor("float32", shape, reading(constant, toFloat32)).data);
    copy.replace(value, copy.constant(`${value.name}/float32`, whole));
  }
  for (const node of copy.sorted()) {
    for (const output of node.outputs) if (output?.dtype === "float16") output.dtype = "float32";
    if (!node.is("Cast") || node.int("to") !== dataTypes.float16) continue;
    copy.replace(node.output, copy.add("Cast", node.inputs, { attributes: { to: int(dataTypes.float32) } }).output);
  }
  copy.prune();
  const outputs = copy.outputs.map(({ name, value }) => ({ name, value, declaration: undefined }));
  copy.outputs.splice(0, outputs.length, ...outputs);
  copy.declarations.clear();
  return copy;
}
