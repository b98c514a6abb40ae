import { GraphBuilder } from "../graph/builder.ts";
import { type Graph, int } from "../graph/plain.ts";
import { type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";

const FLOAT32 = 1;

/**
 * Half precision for GPUs: every float32 weight becomes float16, and with it every value computed from them. Outputs
 * are cast back, so that inputs and outputs stay as declared. onnxruntime's GPU kernels keep the statistics of
 * layer normalisation and softmax in float32.
 */
export function toFp16(graph: Graph): Graph {
  const g = new GraphBuilder();
  const halves = new Map([...graph.initializers].map(([name, value]) => [name, half(value)]));
  const outputs = new Set(graph.outputs.filter(({ dtype }) => dtype === "float32").map(({ name }) => name));
  const renamed = (name: string) => (outputs.has(name) ? `${name}.fp16` : name);
  for (const node of graph.nodes) {
    for (const input of node.inputs) {
      const value = halves.get(input);
      if (value) g.constant(input, value);
    }
    g.node({ ...node, name: renamed(node.name), inputs: node.inputs.map(renamed), outputs: node.outputs.map(renamed) });
  }
  for (const name of outputs) g.op(name, "Cast", [renamed(name)], { attributes: { to: int(FLOAT32) } });
  return g.build(`${graph.name}-fp16`, graph.inputs, graph.outputs);
}

const half = (value: Tensor): Tensor =>
  value.dtype === "float32" ? tensor("float16", value.shape, Float16Array.from(toFloat32(value))) : value;
