import * as ort from "onnxruntime-node";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import { unfusedParts } from "#sdk/compile/fusions/unfused-parts.ts";
import { copyGraph } from "#sdk/compile/graph/copy-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { runGraph } from "./run-graph.ts";
import type { Tensors } from "./run-model.ts";

/** Token ids of the texts of a batch. All texts have the same number of tokens. */
export type Rows = readonly (readonly number[])[];

/**
 * For each batch of token ids, returns the logits of all its texts in one flat list.
 *
 * @param padding token id that gets the attention mask 0
 */
export async function logitsOf(graph: Graph, batches: readonly Rows[], padding?: number): Promise<number[][]> {
  const feeds = batches.map((ids): Tensors => {
    const input = (value: (id: number) => number) =>
      new ort.Tensor(
        "int64",
        BigInt64Array.from(ids.flat(), (id) => BigInt(value(id))),
        [ids.length, ids[0]?.length ?? 0],
      );
    const all: Tensors = {
      input_ids: input((id) => id),
      attention_mask: input((id) => Number(id !== padding)),
      token_type_ids: input(() => 0),
    };
    return Object.fromEntries(graph.inputs.map(({ name }) => [name, all[name] as ort.Tensor]));
  });
  return (await runGraph(graph, feeds)).map((outputs) => [...((outputs["logits"] as ort.Tensor).data as Float32Array)]);
}

/** Returns the largest difference of two lists of numbers; NaN if they have different lengths. */
export const largestDifference = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length ? Math.max(...a.map((value, i) => Math.abs(value - (b[i] as number)))) : Number.NaN;

/** Fuses a copy of a graph, and says what was not fused. */
export async function fusedOf(graph: Graph) {
  const fused = copyGraph(graph);
  return { fused, reasons: unfusedParts(fused, await fuseGraph(fused)) };
}
