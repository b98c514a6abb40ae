import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { attendedOf, idsOf, secondFromOf } from "../../runtime/engine/token-sequence.ts";
import type { Graph } from "../graph/graph.ts";
import { inputRole, inputWithRole } from "../graph/input-role.ts";
import type { Value } from "../graph/node.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";

/** Inputs of one run of a model, by input name. Tensors have the shape [texts, tokens], or [texts] for inputs with one axis. */
export type TokenBatch = ReadonlyMap<string, Tensor>;

/** Returns the attention mask of a batch, [texts, tokens], 0 for padding; undefined if the model has none. */
export const maskIn = (batch: TokenBatch): Tensor | undefined =>
  [...batch].find(([name]) => inputRole(name) === "attention_mask")?.[1];

/**
 * Maximum tokens of a batch, including padding. A batch of this size uses the CPU well, and its activations still need
 * little memory.
 */
const MAX_TOKENS = 2048;

/** Fixed sizes of a graph's inputs; undefined for a size that may vary. */
export interface FixedSizes {
  readonly texts: number | undefined;
  readonly tokens: number | undefined;
}

/** Returns the fixed sizes of a graph's token ids. */
export function fixedSizes(graph: Graph): FixedSizes {
  const [texts, tokens] = (inputWithRole(graph, "input_ids")?.shape ?? []).map((size) =>
    typeof size === "number" ? size : undefined,
  );
  return { texts, tokens };
}

/**
 * Groups sequences of similar length into batches, padded on the right. Each batch has all inputs of the graph. If the
 * graph has no attention mask, all sequences of a batch have the same length. If the graph has fixed sizes, each batch has
 * them: sequences are padded to the fixed length, and the last sequence of a batch is repeated until it is full.
 *
 * @throws BertEdgeError `inputs_unknown` when the graph has no input of token ids; `calibration_invalid` when sequences
 *   cannot be padded to the graph's fixed length
 */
export function tokenBatches(graph: Graph, sequences: readonly TokenSequence[]): TokenBatch[] {
  if (!inputWithRole(graph, "input_ids")) throw unknownInputs(graph);
  const fixed = fixedSizes(graph);
  const hidesPadding = inputWithRole(graph, "attention_mask") !== undefined;
  const lengthOf = (sequence: TokenSequence | undefined) => (sequence ? idsOf(sequence).length : 0);
  const sorted = sequences.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const unfit = sorted.find((sequence) => lengthOf(sequence) !== fixed.tokens);
  if (unfit && fixed.tokens !== undefined && !hidesPadding) throw notPadded(fixed.tokens);
  const batches: TokenBatch[] = [];
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    const fits = (length: number) =>
      (hidesPadding || length === lengthOf(sorted[start])) &&
      (fixed.texts === undefined
        ? (end + 1 - start) * (fixed.tokens ?? length) <= MAX_TOKENS
        : end - start < fixed.texts);
    while (end < sorted.length && fits(lengthOf(sorted[end]))) end++;
    end = Math.max(end, start + 1);
    batches.push(batchOf(graph, sorted.slice(start, end), fixed));
  }
  return batches;
}

function batchOf(graph: Graph, sequences: readonly TokenSequence[], fixed: FixedSizes): TokenBatch {
  const rows = fixed.texts ?? sequences.length;
  const width = fixed.tokens ?? Math.max(...sequences.map((sequence) => idsOf(sequence).length));
  return new Map(graph.inputs.map((input) => [input.name, contentOf(input)]));

  function contentOf({ name, dtype, shape: declared }: Value): Tensor {
    // Inputs with one number per text get zeros. The original BERT has such an input, and only copies it to an output.
    const isPerText = declared?.length === 1;
    const shape = isPerText ? [rows] : [rows, width];
    const numbers = new Int32Array(isPerText ? rows : rows * width);
    for (let row = 0; row < rows && !isPerText; row++) {
      const sequence = sequences[Math.min(row, sequences.length - 1)] as TokenSequence;
      numbers.set(inputContent(name, sequence), row * width);
    }
    return dtype === "int32"
      ? tensor("int32", shape, numbers)
      : tensor("int64", shape, BigInt64Array.from(numbers, BigInt));
  }
}

function unknownInputs(graph: Graph): BertEdgeError {
  const names = graph.inputs.map(({ name }) => name).join(", ");
  return new BertEdgeError("inputs_unknown", `The model has no input named input_ids. Its inputs are: ${names}.`, {
    hint: "Export the model with transformers' input names: input_ids, attention_mask, token_type_ids.",
  });
}

const notPadded = (tokens: number): BertEdgeError =>
  new BertEdgeError(
    "calibration_invalid",
    `The model reads exactly ${tokens} tokens and has no attention mask, so shorter texts cannot be padded.`,
    { hint: "Export the model with an attention mask or with a dynamic length, or quantize it without a tokenizer." },
  );

/** Returns the numbers of one sequence for an input of a model: its token ids, mask or token types; zeros for other inputs. */
export function inputContent(name: string, sequence: TokenSequence): TokenIds {
  const ids = idsOf(sequence);
  const role = inputRole(name);
  if (role === "input_ids") return ids;
  if (role === "attention_mask") return ids.map((_, token) => (token < attendedOf(sequence) ? 1 : 0));
  const types = ids.map(() => 0);
  return role === "token_type_ids" ? types.fill(1, secondFromOf(sequence)) : types;
}

/**
 * Returns a function that draws numbers of at least 0 and less than 1. The same seed always gives the same numbers. They come from the
 * linear congruential generator of Numerical Recipes.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
