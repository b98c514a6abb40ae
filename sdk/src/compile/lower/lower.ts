import { PROGRAM_VERSION, type Program } from "../../runtime/engine/wasm/run/program.ts";
import { kernelSupports, supportedForms } from "../evaluate/interpreter/kernel-supports.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
import { Lowering } from "./lowering.ts";
import { lowerings } from "./operators.ts";
import { positionValues } from "./position-values.ts";
import { unsupported, unsupportedModel } from "./unsupported.ts";

export interface ProgramSize {
  /** The longest sequence that it will run. */
  readonly maxTokens: number;
  /** Ids that there are. */
  readonly vocabulary: number;
}

export interface Lowered {
  readonly program: Program;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/**
 * A graph of the edge form as a program of the WebAssembly engine.
 *
 * @throws BertEdgeError `engine_unsupported` naming the node that the engine has no kernel for
 */
export async function lower(graph: Graph, { maxTokens, vocabulary }: ProgramSize): Promise<Lowered> {
  const known = await positionValues(graph, maxTokens);
  const lowering = new Lowering(known, maxTokens, new Set(graph.outputs.map(({ value }) => value)));
  for (const node of known.nodes) {
    const lowerNode = lowerings[`${node.domain}:${node.opType}`];
    if (!lowerNode) throw unsupported(node, "there is no kernel for this operator");
    if (!kernelSupports(node)) throw unsupported(node, supportedForms(node) as string);
    lowerNode(lowering, node);
  }
  const output = graph.outputs[0]?.value as Value;
  const result = lowering.operand(output);
  if (!result) throw unsupportedModel(`its output "${output.name}" is not computed from input_ids`);
  if (!lowering.isWhole(result)) {
    throw unsupported(output.producer as Node, "the model's output is a slice of a tensor; it must be a whole tensor");
  }
  const { steps, values, tensors } = lowering;
  return { program: { version: PROGRAM_VERSION, values, steps, output: result.value, maxTokens, vocabulary }, tensors };
}
