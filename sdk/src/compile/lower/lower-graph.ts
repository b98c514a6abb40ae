import { PROGRAM_VERSION, type Program } from "../../runtime/engine/wasm/run/program.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";
import { kernelSupports, supportedForms } from "./kernel-supports.ts";
import { LoweringContext } from "./lowering-context.ts";
import { lowerings } from "./operators.ts";
import { positionValues } from "./position-values.ts";
import { unsupported, unsupportedModel } from "./unsupported.ts";

export interface ProgramSize {
  /** Maximum number of tokens of a text. */
  readonly maxTokens: number;
  /** Vocabulary size of the model. */
  readonly vocabulary: number;
  /** Whether the program takes pairs of texts. */
  readonly pairs?: boolean;
}

export interface Lowered {
  readonly program: Program;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

/**
 * Lowers a graph with int8-edge operators to a program of the edge engine.
 *
 * @throws BertEdgeError `engine_unsupported` with the node that the engine cannot run, and the reason
 */
export async function lowerGraph(
  graph: Graph,
  { maxTokens, vocabulary, pairs = false }: ProgramSize,
): Promise<Lowered> {
  const sizes = { maxTokens, vocabulary, ...(pairs && { pairs }) };
  const known = await positionValues(graph, maxTokens, pairs);
  // The tensors here are packed, as the file has them.
  const lowering = new LoweringContext(
    known,
    { ...sizes, expands: "each call" },
    new Set(graph.outputs.map(({ value }) => value)),
  );
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
  return { program: { version: PROGRAM_VERSION, values, steps, output: result.value, ...sizes }, tensors };
}
