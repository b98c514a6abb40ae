import { BertEdgeError } from "../../artifact/error.ts";
import { int } from "../graph/attribute.ts";
import type { Graph, Output } from "../graph/graph.ts";
import { type InputRole, inputRole, inputRoles, plainName } from "../graph/input-role.ts";
import type { Value } from "../graph/node.ts";
import { int64s } from "../graph/tensor.ts";
import { everyGemmRule } from "../normalize/rules/gemm.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import { applyRules } from "../rewrite/apply-rules.ts";
import { Questions } from "../rewrite/questions.ts";
import { Trace } from "../rewrite/trace.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { commandToQuantize } from "./command-to-quantize.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { isSentenceVector, TOKEN_EMBEDDINGS } from "./export-outputs.ts";

/** Operators that only quantized models have. */
const INTEGER =
  /^(Q(?!uickGelu)|DequantizeLinear|DynamicQuantize|MatMulInteger|ConvInteger|MatMulNBits|GatherBlockQuantized)/;

/** The output that a task needs from an export. */
export interface ExportedResult {
  /** Possible names of the output. Optimum, sentence-transformers and transformers use different names. */
  readonly names: readonly string[];
  /** Shape of the output. The batch and sequence sizes are undefined. */
  readonly shape: readonly (number | undefined)[];
}

/** A graph that was read from an ONNX file, and what else is in the file. */
export interface ExportedModel {
  readonly path: string;
  readonly graph: Graph;
  /** Names that the graph's results have in the file. */
  readonly results: readonly string[];
  /** Names of the file's other outputs. */
  readonly others: readonly string[];
}

/**
 * Reads an export as a graph. Keeps only the nodes that lead to the wanted outputs, and the inputs that they read. Several
 * outputs [batch, sequence] become one output `logits` [batch, sequence, outputs]. Inputs get transformers' names, and
 * int32 inputs become int64, as in graphs that this package writes from checkpoints.
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
  const fault = faultOf(graph, config, results);
  if (fault) throw unsupported(path, fault);
  for (const input of graph.inputs) rename(graph, input);
  if (outputs.length > 1) stack(graph);
  applyRules(graph, [everyGemmRule], new Trace(), new Questions());
  return {
    ...{ path, graph },
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

/** Gives an input transformers' name. Its declaration has the name of the file. */
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

function faultOf(graph: Graph, config: EncoderConfig, results: readonly ExportedResult[]): string | undefined {
  const integer = [...graph.nodes].find(({ opType }) => INTEGER.test(opType));
  if (integer) return `is quantized (node ${integer.origin})`;
  const constants = [...graph.constants()].map(({ constant }) => constant);
  if (constants.some((constant) => constant?.dtype === "float16")) return "has weights in half precision";
  for (const { name, dtype, shape } of graph.inputs) {
    if (!inputRole(name)) return `has an unsupported input ${name}`;
    if (dtype !== "int64") return `has an input ${name} of type ${dtype} instead of int64`;
    if (shape?.length !== 2) return `has an input ${name} of unknown shape`;
    if (shape.some((size) => typeof size === "number"))
      return `has an input ${name} with a fixed size: ${shape.map((size) => (typeof size === "number" ? size : "…")).join(" × ")}`;
  }
  for (const role of inputRoles) {
    const names = graph.inputs.map(({ name }) => name).filter((name) => inputRole(name) === role);
    if (names.length > 1) return `has several inputs for ${role}: ${names.join(", ")}`;
    if (names.length === 0 && role !== "token_type_ids") return `has no input ${role}`;
  }
  for (const [i, { name, value }] of graph.outputs.entries()) {
    const { shape } = results[i] as ExportedResult;
    if (!value.shape) return `has an output ${name} of unknown shape`;
    const fits = shape.every((size, axis) => size === undefined || value.shape?.[axis] === size);
    if (value.shape.length !== shape.length || !fits)
      return `has an output ${name} with a shape other than [${shape.map((size) => size ?? "…").join(", ")}]`;
  }
  const lacking = tablesOf(config).find(
    ([rows]) => !constants.some((constant) => constant?.shape.length === 2 && constant.shape[0] === rows),
  );
  return lacking && `has no embedding table with ${lacking[0]} rows (${lacking[1]} in config.json)`;
}

/**
 * For each embedding table that the encoder must have, returns its number of rows and the key of config.json that gives
 * this number.
 */
const tablesOf = ({ vocabularySize, maxPositions, rotaryTheta }: EncoderConfig): [rows: number, key: string][] => [
  [vocabularySize, "vocab_size"],
  ...(rotaryTheta ? [] : [[maxPositions, "max_position_embeddings"] as [number, string]]),
];

/** Says which outputs an export has instead of the wanted one. */
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
  new BertEdgeError("export_unsupported", `${path} ${what}.`, {
    hint:
      "Export the float32 model with dynamic batch and sequence sizes, for example `optimum-cli export onnx --model <model> <folder>`, or " +
      "give a folder with model.safetensors.",
  });
