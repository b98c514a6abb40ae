import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import type { Candidate } from "../accuracy/choose-precision.ts";
import { probeInputs } from "../accuracy/probe-inputs.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import { type PrecisionOptions, precisions } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import { type ActivationRange, minErrorRange, percentileRange } from "../quantize/static/histogram.ts";
import { quantizeInt8Static } from "../quantize/static/int8-static.ts";
import type { ObservedRange } from "../quantize/static/observe-ranges.ts";
import { type Observations, observeActivations } from "./observe-activations.ts";

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
  if (mode === "int8-static") {
    if (!batches) throw calibrationMissing();
    return staticCandidates(fused, await observeActivations(fused, batches, { kinds: ["ranges"], folder }));
  }
  const layers = quantizableNodes(fused);
  if (mode === "fp16") {
    const inputs = batches ?? probeInputs(fused).flatMap(([first]) => first ?? []);
    const { overflowing } = await observeActivations(fused, inputs, { kinds: ["overflowing"], folder });
    return [{ label: mode, quantize: precisions.fp16(fused), layers, always: [...overflowing] }];
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
  const observed = batches && (await observeActivations(fused, batches, { kinds: ["statistics"], folder }));
  const precision = mode === "int8-dynamic" ? "int8" : mode;
  const quantize = precisions[precision](fused, {
    statistics: observed?.statistics,
    ...(tableBits && { tableBits }),
    ...(feedForwardBits && { feedForwardBits }),
  });
  return [{ label: mode, quantize, layers }];
}

/** Whether a model comes quantized: then it stays as it is. */
const hasIntegers = (graph: Graph): boolean =>
  [...graph.constants()].some(({ dtype, shape }) => (dtype === "int8" || dtype === "uint8") && shape?.length === 2);

const calibrationMissing = () =>
  new BertEdgeError("calibration_missing", "int8-static cannot find activation ranges without texts.", {
    hint: "Give the folder of the model's tokenizer.json with --tokenizer.",
  });

/** Three ways to choose ranges; docs/accuracy.md shows that none is the best for all models. */
function staticCandidates(graph: Graph, { ranges }: Pick<Observations, "ranges">): Candidate[] {
  const ways: Record<string, (range: ObservedRange) => ActivationRange> = {
    "least error": ({ histogram }) => minErrorRange(histogram),
    "min and max": (range) => range,
    "99.999th percentile": ({ histogram }) => percentileRange(histogram, 99.999),
  };
  return Object.entries(ways).map(([label, rangeOf]) => ({
    label,
    quantize: () => quantizeInt8Static(graph, new Map([...ranges].map(([value, range]) => [value, rangeOf(range)]))),
    layers: [],
  }));
}
