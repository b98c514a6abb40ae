import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import type { Candidate } from "../accuracy/choose-precision.ts";
import { probeInputs } from "../accuracy/probe-inputs.ts";
import type { Graph } from "../graph/graph.ts";
import { type PrecisionOptions, precisions } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import { leastErrorRange, percentileRange, type Range } from "../quantize/static/histogram.ts";
import { quantizeInt8Static } from "../quantize/static/int8-static.ts";
import type { ObservedRange } from "../quantize/static/ranges.ts";
import { tokenBatches } from "../quantize/token-batches.ts";
import { type Observer, observerOf } from "./observe-in-child.ts";

export type QuantizeMode = "int8-dynamic" | "int8-blocks" | "int8-static" | "fp16";

export interface QuantizeChoice extends Pick<PrecisionOptions, "tableBits" | "feedForwardBits"> {
  mode: QuantizeMode;
}

/**
 * Ways to quantize a graph in a mode, the one to try first first.
 *
 * @param sequences texts' token ids to observe activations on; undefined for none
 * @param folder for files, as long as the candidates are used
 * @throws BertEdgeError `calibration_missing`, `inputs_unknown`, `calibration_invalid`, `calibration_failed`,
 *   `quantize_opset`, `nothing_to_quantize`
 */
export async function quantizeCandidates(
  fused: Graph,
  { mode, tableBits, feedForwardBits }: QuantizeChoice,
  sequences: readonly TokenIds[] | undefined,
  folder: string,
): Promise<Candidate[]> {
  const batches = sequences && tokenBatches(fused, sequences);
  const observer = batches && observerOf(fused, batches, folder);
  if (mode === "int8-static") return staticCandidates(fused, observer);
  const layers = quantizableNodes(fused);
  if (mode === "fp16") {
    const probes = () => probeInputs(fused).flatMap(([inputs]) => inputs ?? []);
    const beyond = await (observer ?? observerOf(fused, probes(), folder)).beyondHalf();
    return [{ label: mode, quantize: precisions.fp16(fused), layers, always: [...beyond] }];
  }
  if (hasIntegers(fused)) return [{ label: mode, quantize: () => fused, layers: [] }];
  if (layers.length === 0) {
    throw new BertEdgeError(
      "nothing_to_quantize",
      "No float32 weight of the model is read by a matrix product or a lookup.",
      {
        hint: "Models in half precision and those made by other tools than exporters may have none: quantize the float32 export.",
      },
    );
  }
  const calibration = await observer?.moments();
  const precision = mode === "int8-dynamic" ? "int8" : mode;
  const quantize = precisions[precision](fused, {
    calibration,
    ...(tableBits && { tableBits }),
    ...(feedForwardBits && { feedForwardBits }),
  });
  return [{ label: mode, quantize, layers }];
}

/** Whether a model comes quantized: then it stays as it is. */
const hasIntegers = (graph: Graph): boolean =>
  [...graph.constants()].some(({ dtype, shape }) => (dtype === "int8" || dtype === "uint8") && shape?.length === 2);

/** Ways to find ranges, of which none is the best for all models: docs/accuracy.md. */
async function staticCandidates(graph: Graph, observer: Observer | undefined): Promise<Candidate[]> {
  if (!observer) {
    throw new BertEdgeError("calibration_missing", "int8-static needs to know what activations are like.", {
      hint: "Give the folder of the model's tokenizer.json with --tokenizer.",
    });
  }
  const observed = await observer.ranges();
  const ways: Record<string, (range: ObservedRange) => Range> = {
    "least error": ({ histogram }) => leastErrorRange(histogram),
    "min and max": (range) => range,
    "99.999th percentile": ({ histogram }) => percentileRange(histogram, 99.999),
  };
  return Object.entries(ways).map(([label, rangeOf]) => ({
    label,
    quantize: () => quantizeInt8Static(graph, new Map([...observed].map(([value, range]) => [value, rangeOf(range)]))),
    layers: [],
  }));
}
