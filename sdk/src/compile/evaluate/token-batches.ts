import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import type { Graph } from "../graph/graph.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import { inputContent } from "./input-content.ts";

/** Inputs of one run of a model, by input name. Each tensor has the shape [texts, tokens]. */
export type TokenBatch = ReadonlyMap<string, Tensor>;

/**
 * Maximum tokens of a batch, including padding. A batch of this size uses the CPU well, and its activations still need
 * little memory.
 */
const MAX_TOKENS = 2048;

/**
 * Groups sequences of similar length into batches, padded on the right. Each batch has all inputs of the graph. If the
 * graph has no attention_mask, all sequences of a batch have the same length.
 *
 * @throws BertEdgeError `inputs_unknown` when the graph has no input named input_ids
 */
export function tokenBatches(graph: Graph, sequences: readonly TokenSequence[]): TokenBatch[] {
  if (!graph.inputs.some(({ name }) => name === "input_ids")) {
    const names = graph.inputs.map(({ name }) => name).join(", ");
    throw new BertEdgeError("inputs_unknown", `The model has no input named input_ids. Its inputs are: ${names}.`, {
      hint: "Export the model with transformers' input names: input_ids, attention_mask, token_type_ids.",
    });
  }
  const lengthOf = (sequence: TokenSequence | undefined) => (sequence ? idsOf(sequence).length : 0);
  const sorted = sequences.toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const batches: TokenBatch[] = [];
  const hidesPadding = graph.inputs.some(({ name }) => name === "attention_mask");
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    const fits = (length: number) =>
      (end + 1 - start) * length <= MAX_TOKENS && (hidesPadding || length === lengthOf(sorted[start]));
    while (end < sorted.length && fits(lengthOf(sorted[end]))) end++;
    end = Math.max(end, start + 1);
    batches.push(batchOf(graph, sorted.slice(start, end)));
  }
  return batches;
}

function batchOf(graph: Graph, sequences: readonly TokenSequence[]): TokenBatch {
  const width = Math.max(...sequences.map((sequence) => idsOf(sequence).length));
  const shape = [sequences.length, width];
  return new Map(
    graph.inputs.map(({ name, dtype }) => {
      const numbers = new Int32Array(sequences.length * width);
      for (const [row, sequence] of sequences.entries()) numbers.set(inputContent(name, sequence), row * width);
      return [
        name,
        dtype === "int32"
          ? tensor("int32", shape, numbers)
          : tensor("int64", shape, BigInt64Array.from(numbers, BigInt)),
      ];
    }),
  );
}
