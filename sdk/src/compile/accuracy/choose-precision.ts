import { BertEdgeError } from "../../artifact/error.ts";
import type { Accuracy, Parity, TaskScore } from "../../artifact/manifest.ts";
import type { Graph } from "../graph/graph.ts";
import type { Quantizer } from "../quantize/precisions.ts";
import { throwIfAborted } from "../subprocess/aborted.ts";
import { type Limit, shortfall } from "./limits.ts";

/** A way to make a graph smaller and faster. */
export interface Candidate<Label extends string = string> {
  readonly label: Label;
  readonly quantize: Quantizer;
  /** Nodes that it can leave in the next higher precision. */
  readonly layers: readonly string[];
  /** Nodes that it has to leave there in any case. Default: none. */
  readonly always?: readonly string[];
}

export interface Choice<Label extends string = string> {
  readonly label: Label;
  readonly graph: Graph;
  readonly measured: Accuracy;
  /** Nodes that stay in the next higher precision. */
  readonly kept: readonly string[];
}

/** How graphs are measured. */
export interface Measures {
  readonly parity: (graph: Graph) => Promise<Parity>;
  /** Takes longer, and cannot be had of NaN: asked for only where parity suffices. */
  readonly task?: (graph: Graph) => Promise<TaskScore | undefined>;
}

/** Where a choice tells how far it is, and what stops it. */
export interface ChoiceContext {
  readonly progress?: (message: string, fraction?: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How close a graph comes to float32 when only this layer of it is quantized. */
interface Sensitivity {
  readonly layer: string;
  readonly meanCosine: number;
}

/** With more than this it is hardly that precision any more. */
const MAX_KEPT = 1 / 2;
/** Layers that an error lists. */
const LISTED = 8;

/**
 * The first candidate that reaches the limit. When none does, the layers of the last one at fault are found, by quantizing
 * each alone, and stay in the next higher precision: first the worst of them, then two, four, … and half.
 *
 * @param candidates the fastest first
 * @throws BertEdgeError `accuracy_gate` with what each layer costs, when that is not enough
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
    const graph = quantize(new Set(kept));
    const measured = await measuredOf(graph, measures, limit);
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

async function measuredOf(graph: Graph, { parity, task }: Measures, limit: Limit): Promise<Accuracy> {
  const measured: Accuracy = { parity: await parity(graph) };
  const score = shortfall(measured, limit) ? undefined : await task?.(graph);
  return score ? { ...measured, task: score } : measured;
}

/** 1, 2, 4, … and the most. */
function countsUpTo(most: number): number[] {
  const powers = Array.from({ length: Math.ceil(Math.log2(Math.max(most, 1))) }, (_, i) => 2 ** i);
  return most > 0 ? [...powers, most] : [];
}

/** What each layer costs when it alone is quantized, the worst first. */
async function sensitivities(
  { quantize, layers, always = [] }: Candidate,
  { parity }: Measures,
  onLayer: (measured: number) => void,
): Promise<Sensitivity[]> {
  const found: Sensitivity[] = [];
  for (const layer of layers) {
    onLayer(found.length);
    const others = new Set([...always, ...layers.filter((name) => name !== layer)]);
    const { meanCosine } = await parity(quantize(others));
    found.push({ layer, meanCosine });
  }
  // NaN is worse than any number.
  const rank = ({ meanCosine }: Sensitivity) => (Number.isNaN(meanCosine) ? Number.NEGATIVE_INFINITY : meanCosine);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function refusal(what: string, missing: string, layers: readonly Sensitivity[]): BertEdgeError {
  const rows = layers.slice(0, LISTED).map(({ layer, meanCosine }) => `\n  ${meanCosine.toFixed(5)}  ${layer}`);
  const table =
    rows.length > 0 &&
    " Keeping up to half of its layers in a higher precision does not mend it. Mean cosine with one layer alone quantized, the worst " +
      `first:${rows.join("")}`;
  return new BertEdgeError(
    "accuracy_gate",
    `${what} differs too much from the float32 model: ${missing}.${table || ""}`,
    {
      hint:
        "Nothing was written. If the checkpoint itself is sound, take another precision or leave this target out, or " +
        "calibrate on texts like those it was trained on with --calibration.",
    },
  );
}
