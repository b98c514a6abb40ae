import { access } from "node:fs/promises";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { int } from "../graph/attribute.ts";
import type { Graph } from "../graph/graph.ts";
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
import type { EncoderConfig } from "./encoder-config.ts";
import { WEIGHT_FILES } from "./model-folder.ts";

/**
 * Paths of the float32 export in a model folder. transformers and Optimum write the first, transformers.js reads the
 * second.
 */
const PLACES = ["model.onnx", join("onnx", "model.onnx")];

/** Inputs that an export may have. The first two are required. */
const INPUTS = ["input_ids", "attention_mask", "token_type_ids"];

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

/** Returns the path of a folder's ONNX file; undefined if there is none, or if the folder has weights. */
export async function exportOf(folder: string): Promise<string | undefined> {
  for (const place of [...WEIGHT_FILES, ...PLACES]) {
    const path = join(folder, place);
    if (await exists(path)) return WEIGHT_FILES.includes(place) ? undefined : path;
  }
  return undefined;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * Reads an export as a graph. Keeps only the nodes that lead to the wanted outputs. Several outputs [batch, sequence] become
 * one output `logits` [batch, sequence, outputs]. Changes int32 inputs to int64, the
 * type of inputs in graphs that this package writes from checkpoints.
 *
 * @throws BertEdgeError `export_unsupported`, and the errors of `readOnnx` and `fromOnnx`
 */
export async function exportedGraph(
  path: string,
  config: EncoderConfig,
  results: readonly ExportedResult[],
): Promise<Graph> {
  const graph = fromOnnx(await readOnnx(path));
  const outputs = results.map(({ names }) => {
    const output = graph.outputs.find(({ name }) => names.includes(name));
    if (!output) throw unsupported(path, `has none of the outputs ${names.join(", ")}`);
    return output;
  });
  graph.outputs.splice(0, graph.outputs.length, ...outputs);
  graph.prune();
  for (const input of [...graph.inputs]) if (input.dtype === "int32") widen(graph, input);
  inferShapes(graph);
  const fault = faultOf(graph, config, results);
  if (fault) throw unsupported(path, fault);
  if (outputs.length > 1) stack(graph);
  applyRules(graph, [everyGemmRule], new Trace(), new Questions());
  return graph;
}

/** Stacks the graph's outputs [batch, sequence] along a new last axis. */
function stack(graph: Graph): void {
  const axis = graph.constant("logits/axis", int64s(-1));
  const columns = graph.outputs.map(({ value }) => graph.add("Unsqueeze", [value, axis]).output);
  const { output } = graph.add("Concat", columns, { attributes: { axis: int(-1) } });
  graph.outputs.splice(0, graph.outputs.length, { name: "logits", value: output, declaration: undefined });
  inferShapes(graph);
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
    if (!INPUTS.includes(name)) return `has an unsupported input ${name}`;
    if (dtype !== "int64") return `has an input ${name} of type ${dtype} instead of int64`;
    if (shape?.length !== 2 || shape.some((size) => typeof size === "number"))
      return `has an input ${name} with a fixed size`;
  }
  const missing = INPUTS.slice(0, 2).find((wanted) => !graph.inputs.some(({ name }) => name === wanted));
  if (missing) return `has no input ${missing}`;
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

const unsupported = (path: string, what: string): BertEdgeError =>
  new BertEdgeError("export_unsupported", `${path} ${what}.`, {
    hint:
      "Export the float32 model with dynamic batch and sequence sizes, for example `optimum-cli export onnx --model <model> <folder>`, or " +
      "give a folder with model.safetensors.",
  });
