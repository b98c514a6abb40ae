import { BertEdgeError } from "../../artifact/error.ts";
import type { Measured } from "../../artifact/manifest.ts";
import type { Graph } from "../graph/graph.ts";
import type { Precision, Quantizer } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import { type Limit, shortfall } from "./measured.ts";

export interface Candidate {
  readonly precision: Precision;
  readonly quantize: Quantizer;
}

export interface Choice {
  readonly precision: Precision;
  readonly graph: Graph;
  readonly measured: Measured;
  /** Nodes that stay in float32. */
  readonly kept: readonly string[];
}

/** How close a graph comes to float32 when only this layer of it is quantized. */
export interface Sensitivity {
  readonly layer: string;
  readonly meanCosine: number;
}

/** More float32 than this is no quantized model any more. */
const MAX_KEPT = 1 / 2;
/** Layers that an error lists. */
const LISTED = 8;

/**
 * The first candidate that reaches the limit. When none does, the layers of the last one at fault are found, by quantizing
 * each alone, and stay in float32: first the worst of them, then two, four, … up to half.
 *
 * @param candidates the fastest first
 * @throws BertEdgeError `accuracy_gate` with what each layer costs, when that is not enough
 */
export async function choosePrecision(
  what: string,
  fused: Graph,
  candidates: readonly Candidate[],
  limit: Limit,
  measure: (graph: Graph) => Promise<Measured>,
): Promise<Choice> {
  const attempt = async ({ precision, quantize }: Candidate, kept: readonly string[]) => {
    const graph = quantize(new Set(kept));
    const measured = await measure(graph);
    return { precision, graph, measured, kept, missing: shortfall(measured, limit) };
  };
  let best: Awaited<ReturnType<typeof attempt>> | undefined;
  for (const candidate of candidates) {
    best = await attempt(candidate, []);
    if (!best.missing) return best;
  }
  const last = candidates.at(-1) as Candidate;
  const layers = await sensitivities(fused, last.quantize, measure);
  for (let count = 1; count <= layers.length * MAX_KEPT; count *= 2) {
    const kept = layers.slice(0, count).map(({ layer }) => layer);
    const found = await attempt(last, kept);
    if (!found.missing) return found;
  }
  throw refusal(what, best?.missing ?? "", layers);
}

/** What each layer costs when it alone is quantized, the worst first. */
async function sensitivities(
  fused: Graph,
  quantize: Quantizer,
  measure: (graph: Graph) => Promise<Measured>,
): Promise<Sensitivity[]> {
  const layers = quantizableNodes(fused);
  const found: Sensitivity[] = [];
  for (const layer of layers) {
    const others = new Set(layers.filter((name) => name !== layer));
    const { parity } = await measure(quantize(others));
    found.push({ layer, meanCosine: parity.meanCosine });
  }
  // NaN is worse than any number.
  const rank = ({ meanCosine }: Sensitivity) => (Number.isNaN(meanCosine) ? Number.NEGATIVE_INFINITY : meanCosine);
  return found.toSorted((a, b) => rank(a) - rank(b));
}

function refusal(what: string, missing: string, layers: readonly Sensitivity[]): BertEdgeError {
  const rows = layers.slice(0, LISTED).map(({ layer, meanCosine }) => `  ${meanCosine.toFixed(5)}  ${layer}`);
  return new BertEdgeError(
    "accuracy_gate",
    `${what} differs too much from the float32 model: ${missing}. Keeping up to half of its layers in float32 does not ` +
      `mend it. Mean cosine with one layer alone quantized, the worst first:\n${rows.join("\n")}`,
    {
      hint:
        "Nothing was written. If the checkpoint itself is sound, leave this target out with --targets, or calibrate on " +
        "texts like those it was trained on with --calibration.",
    },
  );
}
