import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import type { Candidate } from "../accuracy/choose-precision.ts";
import { probeInputs } from "../accuracy/probe-inputs.ts";
import { tokenBatches } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import { type Precision, type PrecisionOptions, precisions, type Quantizer } from "../quantize/precisions.ts";
import { quantizableNodes } from "../quantize/quantize-graph.ts";
import { type ActivationRange, minErrorRange, percentileRange } from "../quantize/static/histogram.ts";
import { quantizeInt8Static } from "../quantize/static/int8-static.ts";
import type { ObservedRange } from "../quantize/static/observe-ranges.ts";
import type { Observations, Observed, ObserveInput } from "./observe.ts";
import type { Stage } from "./stage.ts";

/** Candidates for the quantization of a graph, the fastest first. A candidate is quantized only when it is measured. */
export interface Quantized<Label extends string = string> {
  readonly candidates: readonly Candidate<Label>[];
}

interface QuantizeForEngineInput {
  readonly graph: Graph;
  readonly precisions: readonly Precision[];
  readonly observed: Observed;
  /** Bits per element of the token embedding table. */
  readonly tableBits: 8 | 4;
  /** Names of nodes that can stay in the next higher precision. */
  readonly layers: readonly string[];
  /** Quantizers by precision, shared by all targets. */
  readonly quantizers: Map<Precision, Quantizer>;
  /** Names of the target and the engine, for progress messages. */
  readonly label: string;
}

/** Returns the candidates for a fused graph in the precisions that an engine can run. */
export const quantizeForEngine: Stage<QuantizeForEngineInput, Quantized<Precision>> = {
  name: "quantize",
  // The stage that measures begins with the same work, so that both have one line in a log.
  describe: ({ label, precisions: [first] }) => `quantize ${label}, ${first}`,
  async run(input) {
    const { graph, observed, tableBits, layers, quantizers } = input;
    const candidates = input.precisions.map((label) => {
      const options = { statistics: observed.statistics, tableBits };
      const quantize = quantizers.get(label) ?? precisions[label](graph, options);
      quantizers.set(label, quantize);
      return { label, quantize, layers, always: label === "fp16" ? [...(observed.overflowing ?? [])] : [] };
    });
    return { candidates };
  },
  report: ({ candidates }) => ({ candidates: candidates.map(({ label }) => label) }),
};

export type QuantizeMode = "int8-dynamic" | "int8-mixed" | "int8-blocks" | "int8-static" | "fp16";

export interface QuantizeChoice extends Pick<PrecisionOptions, "tableBits" | "feedForwardBits"> {
  mode: QuantizeMode;
}

/**
 * Checks that there is a tokenizer if the mode needs one.
 *
 * @throws BertEdgeError `calibration_missing`
 */
export function assertCalibratable(mode: QuantizeMode, tokenizer: string | undefined): void {
  if (mode !== "int8-static" || tokenizer !== undefined) return;
  throw new BertEdgeError(
    "calibration_missing",
    "int8-static runs the model on texts to find activation ranges, but no tokenizer was found to encode the texts.",
    { hint: "Give the folder of the model's tokenizer.json with --tokenizer." },
  );
}

/**
 * Returns the input of the observe stage for a mode. Returns undefined if there is nothing to observe: the model is
 * already quantized, or the mode works without texts and there are none.
 *
 * @param sequences token ids of calibration texts; undefined without a tokenizer
 * @throws BertEdgeError `inputs_unknown`, `nothing_to_quantize`
 */
export function observationsFor(
  mode: QuantizeMode,
  graph: Graph,
  sequences: readonly TokenSequence[] | undefined,
): ObserveInput | undefined {
  const batches = sequences && tokenBatches(graph, sequences);
  if (mode === "int8-static") {
    return { graph, batches: batches ?? [], kinds: ["ranges"] };
  }
  if (mode === "fp16") {
    const inputs = batches ?? probeInputs(graph).flatMap(([first]) => first ?? []);
    return { graph, batches: inputs, kinds: ["overflowing"] };
  }
  if (isQuantized(graph)) return undefined;
  if (quantizableNodes(graph).length === 0) throw nothingToQuantize();
  return batches && { graph, batches, kinds: ["statistics"] };
}

interface QuantizeInModeInput extends QuantizeChoice {
  readonly graph: Graph;
  readonly observed: Observed | undefined;
}

/** Returns the candidates for a graph in one of the modes of `quantize`. */
export const quantizeInMode: Stage<QuantizeInModeInput, Quantized> = {
  name: "quantize",
  describe: ({ mode }) => `quantize in ${mode}`,
  run: async (input) => ({ candidates: candidatesOf(input) }),
  report: ({ candidates }) => ({ candidates: candidates.map(({ label }) => label) }),
};

function candidatesOf({ graph, observed, mode, tableBits, feedForwardBits }: QuantizeInModeInput): Candidate[] {
  if (mode === "int8-static") return staticCandidates(graph, observed?.ranges ?? new Map());
  const layers = quantizableNodes(graph);
  if (mode === "fp16") {
    return [{ label: mode, quantize: precisions.fp16(graph), layers, always: [...(observed?.overflowing ?? [])] }];
  }
  if (isQuantized(graph)) return [{ label: mode, quantize: async () => graph, layers: [] }];
  const quantize = precisions[mode === "int8-dynamic" ? "int8" : mode](graph, {
    statistics: observed?.statistics,
    ...(tableBits && { tableBits }),
    ...(feedForwardBits && { feedForwardBits }),
  });
  return [{ label: mode, quantize, layers }];
}

/** Whether a model already has int8 weights. Such weights are kept as they are. */
const isQuantized = (graph: Graph): boolean =>
  [...graph.constants()].some(({ dtype, shape }) => (dtype === "int8" || dtype === "uint8") && shape?.length === 2);

/**
 * Returns three candidates with different activation ranges. None of them is the best for all models
 * (docs/accuracy.md).
 */
function staticCandidates(graph: Graph, ranges: Observations["ranges"]): Candidate[] {
  const ways: Record<string, (range: ObservedRange) => ActivationRange> = {
    "least error": ({ histogram }) => minErrorRange(histogram),
    "min and max": (range) => range,
    "99.999th percentile": ({ histogram }) => percentileRange(histogram, 99.999),
  };
  return Object.entries(ways).map(([label, rangeOf]) => ({
    label,
    quantize: async () =>
      quantizeInt8Static(graph, new Map([...ranges].map(([value, range]) => [value, rangeOf(range)]))),
    layers: [],
  }));
}

const nothingToQuantize = () =>
  new BertEdgeError("nothing_to_quantize", "The model has no float32 weights in MatMuls or embedding tables.", {
    hint: "Quantize the float32 export. Models in half precision, or from unusual tools, may have no such weights.",
  });
