import type { TokenBatch } from "#sdk/compile/evaluate/token-batches.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { CalibrationStatistics } from "#sdk/compile/quantize/calibration/activation-statistics.ts";
import { type PrecisionOptions, precisions } from "#sdk/compile/quantize/precisions.ts";
import { type QuantizationScheme, quantizeGraph } from "#sdk/compile/quantize/quantize-graph.ts";
import { int8Dynamic } from "#sdk/compile/quantize/schemes/int8-dynamic.ts";
import { int8Edge, SEVEN_BIT_ACTIVATIONS } from "#sdk/compile/quantize/schemes/int8-edge.ts";
import { type BlockPrecision, matMulNBits } from "#sdk/compile/quantize/schemes/matmul-nbits.ts";
import { smoothActivations } from "#sdk/compile/quantize/smooth-activations.ts";
import { type ActivationRange, minErrorRange, percentileRange } from "#sdk/compile/quantize/static/histogram.ts";
import { quantizeInt8Static } from "#sdk/compile/quantize/static/int8-static.ts";
import { type ObservedRange, observeRanges } from "#sdk/compile/quantize/static/observe-ranges.ts";
import { ROUND_TO_NEAREST, type RoundingOptions } from "#sdk/compile/quantize/weights/quantize-weight.ts";
import { type WeightQuantizer, weightQuantizer } from "#sdk/compile/quantize/weights/weight-quantizer.ts";

/** What a row's graph is made from. */
interface Subject {
  readonly fused: Graph;
  readonly calibration: CalibrationStatistics;
  readonly batches: readonly TokenBatch[];
}

/** One choice of precision, and what is measured of it beside STS-B. */
export interface Row {
  /** Stable, by which results are kept. */
  readonly id: string;
  readonly title: string;
  /** `edge` is our own engine, or its plain code in build/scalar where it lacks the kernels. */
  readonly engine: "edge" | "onnxruntime";
  readonly retrieval?: boolean;
  readonly classification?: boolean;
  readonly make: (subject: Subject) => Graph | Promise<Graph>;
}

export interface Section {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly Row[];
}

const improved = (...names: (keyof RoundingOptions)[]): RoundingOptions => ({
  ...ROUND_TO_NEAREST,
  ...Object.fromEntries(names.map((name) => [name, true])),
});

/** A form of the fused graph as it is, its weights improved in some ways. */
const plain =
  (form: (weights: WeightQuantizer) => QuantizationScheme, improvements = ROUND_TO_NEAREST): Row["make"] =>
  ({ fused, calibration }) =>
    quantizeGraph(fused, form(weightQuantizer(improvements, calibration)));

/** The same of the graph smoothed by what was observed, or by the gains of layer normalizations. */
const smoothed =
  (
    form: (weights: WeightQuantizer) => QuantizationScheme,
    improvements = ROUND_TO_NEAREST,
    by: "texts" | "gains" = "texts",
  ): Row["make"] =>
  ({ fused, calibration }) => {
    const smooth = smoothActivations(fused, by, calibration);
    return quantizeGraph(smooth.graph, form(weightQuantizer(improvements, smooth.statistics)));
  };

const shipped =
  (precision: keyof typeof precisions, options: PrecisionOptions = {}): Row["make"] =>
  ({ fused, calibration }) =>
    precisions[precision](fused, { statistics: calibration, ...options })();

const fixed =
  (rangeOf: (range: ObservedRange) => ActivationRange): Row["make"] =>
  async ({ fused, batches }) => {
    const observed = await observeRanges(fused, batches, { threads: 1 });
    return quantizeInt8Static(fused, new Map([...observed].map(([value, range]) => [value, rangeOf(range)])));
  };

const edgeRow = (id: string, title: string, make: Row["make"]): Row => ({ id, title, engine: "edge", make });
const row = (id: string, title: string, make: Row["make"]): Row => ({ id, title, engine: "onnxruntime", make });
const blocks = (precision: BlockPrecision) => (of: WeightQuantizer) => matMulNBits(of, precision);

export const sections: readonly Section[] = [
  {
    title: "What is shipped",
    text: "The precisions as `prepare` and `quantize` make them. The edge engine's rows are measured on the engine itself; where it has no kernels for a choice, by its scalar reference, `sdk/src/runtime/engine/wasm/reference`.",
    rows: [
      { ...row("fp32", "float32", ({ fused }) => fused), retrieval: true, classification: true },
      {
        ...edgeRow("edge", "edge engine, everything integer", shipped("int8-edge")),
        retrieval: true,
        classification: true,
      },
      {
        ...edgeRow("edge-int4-table", "edge engine, int4 word table", shipped("int8-edge", { tableBits: 4 })),
        retrieval: true,
        classification: true,
      },
      { ...row("int8", "int8: onnxruntime's fastest form", shipped("int8")), retrieval: true, classification: true },
      {
        ...row("int8-blocks", "int8-blocks: MatMulNBits, 8 bits", shipped("int8-blocks")),
        retrieval: true,
        classification: true,
      },
      { ...row("fp16", "fp16", shipped("fp16")), retrieval: true, classification: true },
      row("int8-int4-table", "int8, int4 word table", shipped("int8", { tableBits: 4 })),
      row("int8-int4-ffn", "int8, int4 feed-forward weights", shipped("int8", { feedForwardBits: 4 })),
    ],
  },
  {
    title: "Which operand of the edge engine has 7 bits",
    text: "The matrix instruction of WebAssembly SIMD multiplies 8 bits by 7. Weights rounded to the nearest, without calibration.",
    rows: [
      edgeRow(
        "edge-weights-7",
        "7-bit weights × 8-bit activations",
        plain((of) => int8Edge(of)),
      ),
      edgeRow(
        "edge-activations-7",
        "8-bit weights × 7-bit activations",
        plain((of) => int8Edge(of, 8, SEVEN_BIT_ACTIVATIONS)),
      ),
    ],
  },
  {
    title: "What each improvement of rounding is worth, edge engine",
    text: "Against 7-bit weights rounded to the nearest. _Clipping_: steps of the least squared error. _Compensation_: later weights make up for the rounding of earlier ones (GPTQ). _Bias correction_: what rounding takes from the mean of an output is given back. _Smoothing_: channels evened out before they are rounded, by gains of layer normalizations (SmoothQuant without texts) or by what texts activate.",
    rows: [
      edgeRow(
        "edge-clipping",
        "clipping",
        plain((of) => int8Edge(of), improved("clipping")),
      ),
      edgeRow(
        "edge-bias",
        "bias correction",
        plain((of) => int8Edge(of), improved("biasCorrection")),
      ),
      edgeRow(
        "edge-compensation",
        "compensation",
        plain((of) => int8Edge(of), improved("gptq")),
      ),
      edgeRow(
        "edge-all",
        "all three",
        plain((of) => int8Edge(of), improved("clipping", "gptq", "biasCorrection")),
      ),
      edgeRow(
        "edge-smoothing-gains",
        "smoothing by gains",
        smoothed((of) => int8Edge(of), ROUND_TO_NEAREST, "gains"),
      ),
      edgeRow(
        "edge-smoothing",
        "smoothing by texts",
        smoothed((of) => int8Edge(of)),
      ),
      edgeRow(
        "edge-smoothing-compensation",
        "smoothing by texts, compensation",
        smoothed((of) => int8Edge(of), improved("gptq")),
      ),
    ],
  },
  {
    title: "The same for onnxruntime's fastest form",
    text: "One step for a whole tensor of activations, weights int8 per output channel.",
    rows: [
      row("int8-nearest", "rounded to the nearest", plain(int8Dynamic)),
      row("int8-smoothing-gains", "smoothing by gains", smoothed(int8Dynamic, ROUND_TO_NEAREST, "gains")),
      row("int8-smoothing", "smoothing by texts", smoothed(int8Dynamic)),
      row(
        "int8-smoothing-clipping",
        "smoothing by gains, clipping",
        smoothed(int8Dynamic, improved("clipping"), "gains"),
      ),
      row(
        "int8-smoothing-bias",
        "smoothing by gains, bias correction",
        smoothed(int8Dynamic, improved("biasCorrection"), "gains"),
      ),
      row(
        "int8-smoothing-compensation",
        "smoothing by gains, compensation",
        smoothed(int8Dynamic, improved("gptq"), "gains"),
      ),
    ],
  },
  {
    title: "MatMulNBits",
    text: "A step and zero point for every block of inputs, activations likewise.",
    rows: [
      row("blocks-8-32", "8 bits, blocks of 32, to the nearest", plain(blocks({ bits: 8, block: 32 }))),
      row("blocks-8-128", "8 bits, blocks of 128, to the nearest", plain(blocks({ bits: 8, block: 128 }))),
      row("blocks-4-32", "4 bits, blocks of 32, to the nearest", plain(blocks({ bits: 4, block: 32 }))),
      row("blocks-4-32-clipping", "4 bits, clipping", plain(blocks({ bits: 4, block: 32 }), improved("clipping"))),
      row("blocks-4-32-compensation", "4 bits, compensation", plain(blocks({ bits: 4, block: 32 }), improved("gptq"))),
    ],
  },
  {
    title: "Static int8",
    text: "QuantizeLinear and DequantizeLinear pairs in standard operators, symmetric, for TensorRT and onnxruntime: one step for every tensor, found before. Models that were not trained for it lose most here; the three ways to find ranges are tried in this order, and the first that reaches the limit is taken.",
    rows: [
      row(
        "static-least-error",
        "ranges of least error",
        fixed(({ histogram }) => minErrorRange(histogram)),
      ),
      row(
        "static-min-max",
        "min and max",
        fixed((range) => range),
      ),
      row(
        "static-99.999",
        "99.999th percentile",
        fixed(({ histogram }) => percentileRange(histogram, 99.999)),
      ),
      row(
        "static-99.99",
        "99.99th percentile, never taken",
        fixed(({ histogram }) => percentileRange(histogram, 99.99)),
      ),
    ],
  },
];
