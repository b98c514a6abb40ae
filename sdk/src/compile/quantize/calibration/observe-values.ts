import { availableParallelism } from "node:os";
import type { Tensor as OrtTensor } from "onnxruntime-common";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession, toOrt } from "../../evaluate/ort-session.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { byteLength } from "../../graph/tensor.ts";
import { type GraphSection, sectionsOf } from "./sections.ts";

/** Summarizes float32 values of a graph over the calibration batches. */
export interface Observer {
  readonly values: readonly Value[];
  /** Bytes that the observer needs while it observes one of `values`. Default 0. */
  readonly bytesOf?: (value: Value) => number;
  /**
   * Adds the nodes that summarize a value.
   *
   * @param graph a copy of the graph, or of a part of it
   * @param copy the copy of the value
   * @returns the summaries, float32
   */
  summarize(graph: Graph, copy: Value): readonly Value[];
  /** Receives the summaries of a value for a batch, in the order in which `summarize` returned them. */
  add(value: Value, summaries: readonly Float32Array[]): void;
  /** Called when a value has been observed on all batches. */
  finish?(value: Value): Promise<void>;
}

export interface ObserveOptions {
  /** "skip" ignores batches that the graph cannot run. Default "throw". */
  readonly onFailure?: "throw" | "skip" | undefined;
  /** Maximum bytes of the weights and of the observers' memory for each part of the graph. Default: 256 MiB. */
  readonly sectionBytes?: number | undefined;
  /** Called repeatedly with the finished share, from 0 to 1. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

/** Default of `sectionBytes`: enough for two layers of BERT-base, or for all layers of MiniLM. */
const SECTION_BYTES = 256 << 20;

/**
 * Runs a graph on the calibration batches, one part of the graph after the other. onnxruntime computes the summaries of
 * all observers as outputs of the part.
 *
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on a batch
 */
export async function observeValues(
  graph: Graph,
  batches: readonly TokenBatch[],
  observers: readonly Observer[],
  { onFailure = "throw", sectionBytes = SECTION_BYTES, progress }: ObserveOptions = {},
): Promise<void> {
  const observersOf = Map.groupBy(
    observers.flatMap((observer) => observer.values.map((value) => ({ value, observer }))),
    ({ value }) => value,
  );
  const bytesOf = (node: Node) =>
    weightBytes(node) +
    node.outputs
      .flatMap((value) => (value && observersOf.get(value)) ?? [])
      .reduce((sum, { value, observer }) => sum + (observer.bytesOf?.(value) ?? 0), 0);
  // Values that later sections read, for each batch that the graph can run.
  let states = batches.map((batch) => new Map([...batch].map(([name, value]) => [name, toOrt(value)])));
  const sections = sectionsOf(graph, bytesOf, sectionBytes);
  for (const [index, section] of sections.entries()) {
    const { part, copyOf } = partOf(graph, section);
    const inputs = index === 0 ? graph.inputs : [];
    const observed = [...inputs, ...section.nodes.flatMap(({ outputs }) => outputs)]
      .flatMap((value) => (value && observersOf.get(value)) ?? [])
      .map((each) => ({ ...each, summaries: each.observer.summarize(part, copyOf(each.value)) }));
    const summaryNames = observed.map(({ summaries }, i) =>
      summaries.map((value, j) => {
        const name = `summary.${i}.${j}`;
        part.outputs.push({ name, value, declaration: undefined });
        return name;
      }),
    );
    if (part.outputs.length === 0) continue;
    part.prune();
    const session = await ortSession(part, { intraOpNumThreads: availableParallelism(), logSeverityLevel: 4 });
    const next: typeof states = [];
    try {
      for (const [i, state] of states.entries()) {
        const feeds = [...state].filter(([name]) => session.inputNames.includes(name));
        const run = session.run(Object.fromEntries(feeds));
        const results = await run.catch((cause: unknown) => {
          if (onFailure === "throw") throw doesNotRun(cause);
        });
        progress?.((index + (i + 1) / states.length) / sections.length);
        if (!results) continue;
        observed.forEach(({ value, observer }, at) => {
          const names = summaryNames[at] as readonly string[];
          observer.add(
            value,
            names.map((name) => results[name]?.data as Float32Array),
          );
        });
        const left = section.leaves.map(({ name }) => [name, results[name] ?? state.get(name)] as [string, OrtTensor]);
        next.push(new Map([...[...state].filter(([name]) => isInput(graph, name)), ...left]));
      }
    } finally {
      await session.release();
    }
    states = next;
    for (const { value, observer } of observed) await observer.finish?.(value);
  }
}

const isInput = (graph: Graph, name: string): boolean => graph.inputs.some((input) => input.name === name);

const weightBytes = ({ inputs }: Node): number =>
  inputs.reduce((sum, value) => sum + (value?.constant ? byteLength(value.constant) : 0), 0);

/**
 * Copies a section into a graph of its own. Its inputs are the graph's inputs and the values of earlier sections; its
 * outputs are the section's leaves.
 */
function partOf(source: Graph, { nodes, leaves }: GraphSection): { part: Graph; copyOf: (value: Value) => Value } {
  const part = copyGraph(source);
  const made = [...part.nodes].flatMap(({ outputs }) => outputs.filter((value) => value !== undefined));
  const copies = new Map([...part.inputs, ...made].map((value) => [value.name, value]));
  const copyOf = ({ name }: Value) => copies.get(name) as Value;
  const own = new Set(nodes);
  const isMadeBefore = (value: Value | undefined) => value?.producer && !own.has(value.producer);
  const read = new Set(nodes.flatMap(({ inputs, captures }) => [...inputs, ...captures].filter(isMadeBefore)));
  part.outputs.length = 0;
  for (const value of read as Set<Value>) {
    const copy = copyOf(value);
    const input = part.input(value.name, copy);
    part.replace(copy, input);
    copy.name = `${value.name}.before`;
    input.name = value.name;
  }
  for (const value of leaves) {
    if (!own.has(value.producer as Node)) continue;
    part.outputs.push({ name: value.name, value: copyOf(value), declaration: undefined });
  }
  return { part, copyOf };
}

const doesNotRun = (cause: unknown) =>
  new BertEdgeError("calibration_invalid", "The model does not run on the calibration texts.", {
    hint: "Check that the texts have no more tokens than the model has positions.",
    cause,
  });
