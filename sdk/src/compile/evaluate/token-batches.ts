import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import type { Graph } from "../graph/graph.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";

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
export function tokenBatches(graph: Graph, sequences: readonly TokenIds[]): TokenBatch[] {
  if (!graph.inputs.some(({ name }) => name === "input_ids")) {
    const names = graph.inputs.map(({ name }) => name).join(", ");
    throw new BertEdgeError("inputs_unknown", `The model has no input named input_ids. Its inputs are: ${names}.`, {
      hint: "Export the model with transformers' input names: input_ids, attention_mask, token_type_ids.",
    });
  }
  const sorted = sequences.toSorted((a, b) => a.length - b.length);
  const batches: TokenBatch[] = [];
  const hidesPadding = graph.inputs.some(({ name }) => name === "attention_mask");
  for (let start = 0, end = 0; start < sorted.length; start = end) {
    const fits = ({ length }: TokenIds) =>
      (end + 1 - start) * length <= MAX_TOKENS && (hidesPadding || length === sorted[start]?.length);
    while (end < sorted.length && fits(sorted[end] as TokenIds)) end++;
    end = Math.max(end, start + 1);
    batches.push(batchOf(graph, sorted.slice(start, end)));
  }
  return batches;
}

function batchOf(graph: Graph, sequences: readonly TokenIds[]): TokenBatch {
  const width = Math.max(...sequences.map(({ length }) => length));
  const values = (numberFor: (id: number) => number) => {
    const all = new BigInt64Array(sequences.length * width);
    sequences.forEach((ids, row) => {
      ids.forEach((id, column) => {
        all[row * width + column] = BigInt(numberFor(id));
      });
    });
    return all;
  };
  const contents: Record<string, (id: number) => number> = { input_ids: (id) => id, attention_mask: () => 1 };
  return new Map(
    graph.inputs.map(({ name, dtype }) => {
      const numbers = values(contents[name] ?? (() => 0));
      const shape = [sequences.length, width];
      return [
        name,
        dtype === "int32" ? tensor("int32", shape, Int32Array.from(numbers, Number)) : tensor("int64", shape, numbers),
      ];
    }),
  );
}
