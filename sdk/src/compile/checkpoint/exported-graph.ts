import { BertEdgeError } from "../../artifact/error.ts";
import type { FixedSizes } from "../evaluate/token-batches.ts";
import type { Graph, Output } from "../graph/graph.ts";
import { type InputRole, inputRole, plainName } from "../graph/input-role.ts";
import { int, type Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";
import { everyGemmRule } from "../normalize/rules/matmul.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { type ComparedOutput, type ComparedSizes, openedDifference } from "./compare-opened.ts";
import { type EncoderConfig, maxTokensOf } from "./encoder-config.ts";
import {
  type ExportedResult,
  faultOfInputs,
  faultOfOutputs,
  isSentenceVector,
  TOKEN_EMBEDDINGS,
} from "./export-outputs.ts";
import { modelPlace } from "./model-place.ts";
import { fixedIn, openSizes, sizesIn } from "./open-sizes.ts";

/** A graph that was read from an ONNX file, and what else is in the file. */
export interface ExportedModel {
  readonly path: string;
  readonly graph: Graph;
  /** Fixed sizes of the file's inputs; undefined if the file has none. The sizes of the graph's inputs are never fixed. */
  readonly fixed: FixedSizes | undefined;
  /** Names of the wanted outputs in the file. */
  readonly results: readonly string[];
  /** Names of the file's other outputs. */
  readonly others: readonly string[];
}

/**
 * Reads an export as a graph. Keeps only the nodes that lead to the wanted outputs. Drops inputs that no node reads, unless
 * they have a known role, such as the token types. Several outputs [batch, sequence] become one output `logits`
 * [batch, sequence, outputs]. Inputs get transformers' names, and int32 inputs become int64, as in graphs that this package
 * writes from checkpoints.
 *
 * @throws BertEdgeError `export_unsupported`, and the errors of `readOnnx` and `fromOnnx`
 */
export async function exportedGraph(
  path: string,
  config: EncoderConfig,
  results: readonly ExportedResult[],
): Promise<ExportedModel> {
  const graph = fromOnnx(await readOnnx(path));
  const all = [...graph.outputs];
  const outputs = results.map((result) => {
    const output = all.find(({ name }) => result.names.includes(plainName(name)));
    if (!output) throw lacksOutput(path, result, all);
    return output;
  });
  graph.outputs.splice(0, graph.outputs.length, ...outputs);
  graph.prune();
  const used = graph.inputs.filter((input) => inputRole(input.name) || graph.isUsed(input));
  graph.inputs.splice(0, graph.inputs.length, ...used);
  for (const input of used) if (input.dtype === "int32") widen(graph, input);
  inferShapes(graph);
  const faultBefore = faultOfInputs(graph);
  if (faultBefore) throw unsupported(path, faultBefore);
  const fixed = fixedIn(graph);
  const kept = fixed && (await openSizes(graph, fixed));
  if (kept) throw notOpened(path, fixed, kept);
  const fault = faultOfOutputs(graph, config, results, fixed);
  if (fault) throw unsupported(path, fault);
  const difference = fixed && (await openedDifference(path, graph, compared(outputs, results), sizesOf(config, fixed)));
  if (difference) throw notOpened(path, fixed, difference);
  for (const input of graph.inputs) rename(graph, input);
  if (outputs.length > 1) stack(graph);
  applyRules(graph, [everyGemmRule]);
  return {
    ...{ path, graph, fixed },
    results: outputs.map(({ name }) => name),
    others: all.filter((output) => !outputs.includes(output)).map(({ name }) => name),
  };
}

/** Stacks the graph's outputs [batch, sequence] along a new last axis. */
function stack(graph: Graph): void {
  const axis = graph.constant("logits/axis", int64s(-1));
  const columns = graph.outputs.map(({ value }) => graph.add("Unsqueeze", [value, axis]).output);
  const { output } = graph.add("Concat", columns, { attributes: { axis: int(-1) } });
  graph.outputs.splice(0, graph.outputs.length, { name: "logits", value: output, declaration: undefined });
  inferShapes(graph);
}

/** Gives an input the name that transformers uses. Removes the input's declaration, because it has the name in the file. */
function rename(graph: Graph, input: Value): void {
  input.name = inputRole(input.name) as InputRole;
  graph.declarations.delete(input);
}

/** Changes an input from int32 to int64. */
function widen(graph: Graph, input: Value): void {
  const { name, shape } = input;
  const wide = graph.input(name, { dtype: "int64", shape });
  graph.replace(input, graph.add("Cast", [wide], { attributes: { to: int(dataTypes.int32) } }).output);
  graph.inputs.splice(graph.inputs.indexOf(input), 1);
  wide.name = name;
}

/** Maximum length in tokens of the compared texts, if the file does not fix their length. */
const MAX_COMPARED = 128;

const sizesOf = (config: EncoderConfig, { tokens = MAX_COMPARED }: FixedSizes): ComparedSizes => ({
  vocabulary: config.vocabularySize,
  tokens: Math.min(tokens, maxTokensOf(config)),
});

const compared = (outputs: readonly Output[], results: readonly ExportedResult[]): ComparedOutput[] =>
  outputs.map(({ name }, i) => ({ name, isPerToken: results[i]?.shape[1] === undefined }));

/** Makes the error for an export without the wanted output. */
function lacksOutput(path: string, { names }: ExportedResult, outputs: readonly Output[]): BertEdgeError {
  const found = outputs.map(({ name }) => name);
  const pooled = found.find(isSentenceVector);
  const what = `has none of the outputs ${names.join(", ")}. It has ${found.join(", ")}`;
  if (pooled === undefined || !names.includes(TOKEN_EMBEDDINGS)) return unsupported(path, what);
  return new BertEdgeError("export_unsupported", `${path} ${what}. The output ${pooled} is already pooled.`, {
    hint:
      "Export the hidden states too: `optimum-cli export onnx --task feature-extraction --model <model> <folder>`. To run this file " +
      `in onnxruntime as it is, quantize it: \`${commandToQuantize(path)}\`.`,
  });
}

const unsupported = (path: string, what: string): BertEdgeError =>
  new BertEdgeError("export_unsupported", `${path} ${what}.`, { hint: EXPORT_AGAIN });

/** Makes the error for a graph that cannot be run at other sizes than the fixed sizes of its file. */
const notOpened = (path: string, { texts, tokens }: FixedSizes, why: string): BertEdgeError =>
  new BertEdgeError(
    "export_unsupported",
    `${path} has inputs of a fixed size (${sizesIn([texts, tokens])}), and cannot be run at other sizes: ${why}.`,
    { hint: `${EXPORT_AGAIN} To run this file in onnxruntime as it is, quantize it: \`${commandToQuantize(path)}\`.` },
  );

const EXPORT_AGAIN =
  "Export the float32 model with dynamic batch and sequence sizes, for example `optimum-cli export onnx --model <model> <folder>`, or " +
  "give a folder with model.safetensors.";

/** Returns the command that makes an ONNX file faster in onnxruntime and keeps all its outputs. */
export const commandToQuantize = (path: string): string =>
  `npx bert-edge quantize ${JSON.stringify(path)} ./int8.onnx --mode int8-dynamic --tokenizer ${JSON.stringify(modelPlace(path).folder)}`;
