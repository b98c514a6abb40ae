import type { FixedSizes } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import { inputRole, inputRoles, plainName } from "../graph/input-role.ts";
import type { Tensor } from "../graph/tensor.ts";
import type { EncoderConfig } from "./encoder-config.ts";
import { sizesIn } from "./open-sizes.ts";

/** Name that sentence-transformers gives to hidden states. */
export const TOKEN_EMBEDDINGS = "token_embeddings";

/** Names of hidden states in exports: of transformers, of sentence-transformers, and of TensorFlow Hub and Keras Hub. */
export const HIDDEN_STATES: readonly string[] = ["last_hidden_state", TOKEN_EMBEDDINGS, "sequence_output"];

/** Name that sentence-transformers and Optimum give to the vector of a text. */
export const SENTENCE_EMBEDDING = "sentence_embedding";

/** Whether an output's name says that it is the vector of a text. The output may still have a vector for each token. */
export const isSentenceVector = (name: string): boolean =>
  /sentence|embed|vec/i.test(name) && !HIDDEN_STATES.includes(plainName(name));

/** Whether an output is a usual extra of transformers' encoders: the pooler, the layers' hidden states, or attention probabilities. */
export const isUsualExtra = (name: string): boolean =>
  /^(pooler_output|pooled_output|hidden_states|attentions)/.test(plainName(name));

/** The output that a task needs from an export. */
export interface ExportedResult {
  /** Possible names of the output. Optimum, sentence-transformers and transformers use different names. */
  readonly names: readonly string[];
  /** Shape of the output. The batch and sequence sizes are undefined. */
  readonly shape: readonly (number | undefined)[];
}

/** Operators that only quantized models have. */
const INTEGER =
  /^(Q(?!uickGelu)|DequantizeLinear|DynamicQuantize|MatMulInteger|ConvInteger|MatMulNBits|GatherBlockQuantized)/;

/** Returns what is wrong with an export's inputs and weights; undefined if nothing is. */
export function faultOfInputs(graph: Graph): string | undefined {
  const integer = [...graph.nodes].find(({ opType }) => INTEGER.test(opType));
  if (integer) return `is quantized (node ${integer.origin})`;
  if (tensorsOf(graph).some(({ dtype }) => dtype === "float16")) return "has weights in half precision";
  for (const { name, dtype, shape } of graph.inputs) {
    if (!inputRole(name)) return `has an unsupported input ${name}`;
    if (dtype !== "int64") return `has an input ${name} of type ${dtype} instead of int64`;
    if (shape?.length !== 2) return `has an input ${name} of unknown shape`;
  }
  for (const role of inputRoles) {
    const names = graph.inputs.map(({ name }) => name).filter((name) => inputRole(name) === role);
    if (names.length > 1) return `has several inputs for ${role}: ${names.join(", ")}`;
    if (names.length === 0 && role !== "token_type_ids") return `has no input ${role}`;
  }
  const [first, ...others] = graph.inputs;
  const other = others.find(({ shape }) => sizesIn(shape) !== sizesIn(first?.shape));
  return (
    other &&
    `has inputs of different sizes: ${[first, other].map((each) => `${each?.name} (${sizesIn(each?.shape)})`).join(", ")}`
  );
}

/**
 * Returns what is wrong with an export's outputs and tables; undefined if nothing is.
 *
 * @param fixed fixed sizes of the file's inputs; undefined if all sizes may vary
 */
export function faultOfOutputs(
  graph: Graph,
  config: EncoderConfig,
  results: readonly ExportedResult[],
  fixed: FixedSizes | undefined,
): string | undefined {
  for (const [i, { name, value }] of graph.outputs.entries()) {
    const { shape } = results[i] as ExportedResult;
    if (!value.shape) return `has an output ${name} of unknown shape`;
    const fits = shape.every((size, axis) => size === undefined || value.shape?.[axis] === size);
    if (value.shape.length !== shape.length || !fits)
      return `has an output ${name} with a shape other than [${shape.map((size) => size ?? "…").join(", ")}]`;
  }
  const tensors = tensorsOf(graph);
  // If the length of texts is fixed, exporters cut the position table to this length.
  const isTable = (rows: number, key: string) =>
    tensors.some(
      ({ shape }) =>
        (shape.length === 2 && shape[0] === rows) ||
        (key === POSITIONS && fixed?.tokens !== undefined && shape.at(-2) === fixed.tokens),
    );
  const lacking = tablesOf(config).find(([rows, key]) => !isTable(rows, key));
  return lacking && `has no embedding table with ${lacking[0]} rows (${lacking[1]} in config.json)`;
}

const tensorsOf = (graph: Graph): Tensor[] => [...graph.constants()].flatMap(({ constant }) => constant ?? []);

/** Key of config.json with the number of positions. */
const POSITIONS = "max_position_embeddings";

/**
 * For each embedding table that the encoder must have, returns its number of rows and the key of config.json that gives
 * this number.
 */
const tablesOf = ({ vocabularySize, maxPositions, rotaryTheta }: EncoderConfig): [rows: number, key: string][] => [
  [vocabularySize, "vocab_size"],
  ...(rotaryTheta ? [] : [[maxPositions, POSITIONS] as [number, string]]),
];
