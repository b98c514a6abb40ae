import type { BertEdgeError } from "../../artifact/error.ts";
import type { Accuracy, Parity, TaskScore } from "../../artifact/manifest.ts";
import type { Graph } from "../graph/graph.ts";
import type { Quantizer } from "../quantize/precisions.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import { rank } from "./compare-numbers.ts";
import { accuracyError, type Limit, shortfall } from "./limits.ts";

/** A way to quantize a graph. */
export interface Candidate<Label extends string = string> {
  readonly label: Label;
  readonly quantize: Quantizer;
  /** Names of nodes that can stay in the next higher precision. */
  readonly layers: readonly string[];
  /** Names of nodes that always stay in the next higher precision. Default: none. */
  readonly always?: readonly string[];
}

export interface Choice<Label extends string = string> {
  readonly label: Label;
  readonly graph: Graph;
  readonly measured: Accuracy;
  /** Names of nodes that stay in the next higher precision. */
  readonly kept: readonly string[];
}

/** Functions that measure a graph. */
export interface Measures {
  readonly parity: (graph: Graph, progress?: ShareCallback) => Promise<Parity>;
  /**
   * Scores a graph on the user's data. Called only for graphs that reach the parity limit, because scoring takes longer
   * than `parity` and fails for NaN.
   */
  readonly task?: (graph: Graph, progress?: ShareCallback) => Promise<TaskScore | undefined>;
}

/** Receives the finished share, from 0 to 1. */
type ShareCallback = (fraction: number) => void;

/** A callback that receives the progress of `choosePrecision`, and a signal that stops `choosePrecision`. */
export interface ChoiceContext {
  readonly progress?: (message: string, fraction?: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Mean cosine between the float32 graph and a graph with only this layer quantized. Of all text lengths, the lowest mean cosine counts. */
interface Sensitivity {
  readonly layer: string;
  readonly meanCosine: number;
}

/** Largest share of layers to keep in the higher precision. With more, hardly anything would be quantized. */
const MAX_KEPT = 1 / 2;
/** Maximum number of layers that an error lists. */
const LISTED = 8;

/**
 * Returns the first candidate that reaches the limit. If no candidate does, the function quantizes each layer of the
 * last candidate alone to find the worst layers. It then keeps the worst layers in the next higher precision: first
 * one, then two, four, … up to half.
 *
 * @param candidates candidates in order of speed, the fastest first
 * @throws BertEdgeError `accuracy_gate` with the cosines of the worst layers, when no attempt reaches the limit
 */
export async function choosePrecision<Label extends string>(
  what: string,
  candidates: readonly Candidate<Label>[],
  limit: Limit,
  measures: Measures,
  { progress = () => {}, signal }: ChoiceContext = {},
): Promise<Choice<Label>> {
  const attempt = async ({ label, quantize, always = [] }: Candidate<Label>, found: readonly string[]) => {
    throwIfAborted(signal);
    const kept = [...new Set([...always, ...found])];
    const shareOf = (work: string) => (fraction: number) => progress(`${work} ${what}, ${label}`, fraction);
    const graph = await quantize(new Set(kept), { signal, progress: shareOf("quantize") });
    const measured = await measuredOf(graph, measures, limit, shareOf);
    return { label, graph, measured, kept, missing: shortfall(measured, limit) };
  };
  let missing: string | undefined;
  for (const candidate of candidates) {
    const found = await attempt(candidate, []);
    if (!found.missing) return found;
    missing = found.missing;
  }
  const last = candidates.at(-1) as Candidate<Label>;
  const layers = await sensitivities(last, measures, (measured) => {
    throwIfAborted(signal);
    progress(`find the layers at fault in ${what}`, measured / last.layers.length);
  });
  for (const count of countsUpTo(Math.floor(layers.length * MAX_KEPT))) {
    const kept = layers.slice(0, count).map(({ layer }) => layer);
    const found = await attempt(last, kept);
    if (!found.missing) return found;
  }
  throw refusal(what, missing ?? "", layers);
}

async function measuredOf(
  graph: Graph,
  { parity, task }: Measures,
  limit: Limit,
  shareOf: (work: string) => ShareCallback,
): Promise<Accuracy> {
  const measured: Accuracy = { parity: await parity(graph, shareOf("measure")) };
  const score = shortfall(measured, limit) ? undefined : await task?.(graph, shareOf("score"));
  return score ? { ...measured, task: score } : measured;
}

/** Returns 1, 2, 4, … and finally `most`. */
function countsUpTo(most: number): number[] {
  const powers = Array.from({ length: Math.ceil(Math.log2(Math.max(most, 1))) }, (_, i) => 2 ** i);
  return most > 0 ? [...powers, most] : [];
}

/** Quantizes each layer alone, and measures how much this changes the outputs. Returns the layers, the worst first. */
async function sensitivities(
  { quantize, layers, always = [] }: Candidate,
  { parity }: Measures,
  onLayer: (measured: number) => void,
): Promise<Sensitivity[]> {
  const found: Sensitivity[] = [];
  for (const layer of layers) {
    onLayer(found.length);
    const others = new Set([...always, ...layers.filter((name) => name !== layer)]);
    const { meanCosine, lengths = [] } = await parity(await quantize(others));
    found.push({ layer, meanCosine: Math.min(meanCosine, ...lengths.map((length) => length.meanCosine)) });
  }
  return found.toSorted((a, b) => rank(a.meanCosine) - rank(b.meanCosine));
}

function refusal(what: string, missing: string, layers: readonly Sensitivity[]): BertEdgeError {
  const rows = layers.slice(0, LISTED).map(({ layer, meanCosine }) => `\n  ${meanCosine.toFixed(5)}  ${layer}`);
  const table =
    " Keeping up to half of its layers in a higher precision does not help. Mean cosine with only one layer quantized, " +
    `worst first:${rows.join("")}`;
  return accuracyError(
    what,
    missing,
    "If the checkpoint is not damaged, use another precision, leave this target out, or give --calibration texts " +
      "that are similar to the model's training data.",
    rows.length > 0 ? table : "",
  );
}
