import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";

/** Summarizes float32 values of a graph over the calibration batches. */
export interface Observer {
  /**
   * Adds the nodes that summarize a batch.
   *
   * @param graph a copy of the observed graph
   * @param copyOf returns the copy of a value of the observed graph
   * @returns the summaries, float32
   */
  summarize(graph: Graph, copyOf: (value: Value) => Value): readonly Value[];
  /** Receives the summaries of a batch, in the order in which `summarize` returned them. */
  add(summaries: readonly Float32Array[]): void;
}

/**
 * Runs a graph on the calibration batches. onnxruntime computes the summaries of all observers as outputs of the graph,
 * instead of the graph's own outputs.
 *
 * @param onFailure "skip" ignores batches that the graph cannot run
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on a batch
 */
export async function observeValues(
  source: Graph,
  batches: readonly TokenBatch[],
  observers: readonly Observer[],
  onFailure: "throw" | "skip" = "throw",
): Promise<void> {
  const graph = copyGraph(source);
  const made = [...graph.nodes].flatMap(({ outputs }) => outputs.filter((value) => value !== undefined));
  const copies = new Map([...graph.inputs, ...made].map((value) => [value.name, value]));
  graph.outputs.length = 0;
  const names = observers.map((observer, i) =>
    observer
      .summarize(graph, ({ name }) => copies.get(name) as Value)
      .map((value, j) => {
        const name = `summary.${i}.${j}`;
        graph.outputs.push({ name, value, declaration: undefined });
        return name;
      }),
  );
  graph.prune();
  if (graph.outputs.length === 0) return;
  const session = await ortSession(graph, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  try {
    for (const batch of batches) {
      const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
      const run = session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
      const results = await run.catch((cause: unknown) => {
        if (onFailure === "throw") throw doesNotRun(cause);
      });
      if (!results) continue;
      observers.forEach((observer, i) => {
        observer.add((names[i] ?? []).map((name) => results[name]?.data as Float32Array));
      });
    }
  } finally {
    await session.release();
  }
}

const doesNotRun = (cause: unknown) =>
  new BertEdgeError("calibration_invalid", "The model does not run on the calibration texts.", {
    hint: "Check that the texts have no more tokens than the model has positions.",
    cause,
  });
