import type { TokenBatch } from "#sdk/compile/evaluate/token-batches.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import type { CalibrationStatistics } from "#sdk/compile/quantize/calibration/activation-statistics.ts";
import {
  type EdgeForms,
  type EdgeQuantizers,
  edgeQuantizers,
  type PrecisionOptions,
  precisions,
} from "#sdk/compile/quantize/precisions.ts";
import { type QuantizationScheme, quantizeGraph } from "#sdk/compile/quantize/quantize-graph.ts";
import { int8Dynamic } from "#sdk/compile/quantize/schemes/int8-dynamic.ts";
import { int8Edge, SEVEN_BIT_ACTIVATIONS } from "#sdk/compile/quantize/schemes/int8-edge.ts";
import { type BlockPrecision, matMulNBits } from "#sdk/compile/quantize/schemes/matmul-nbits.ts";
import { smoothActivations } from "#sdk/compile/quantize/smooth-activations.ts";
import { type ActivationRange, minErrorRange, percentileRange } from "#sdk/compile/quantize/static/histogram.ts";
import { quantizeInt8Static } from "#sdk/compile/quantize/static/int8-static.ts";
import { type ObservedRange, observeRanges } from "#sdk/compile/quantize/static/observe-ranges.ts";
import { ROUND_TO_NEAREST, type RoundingOptions } from "#sdk/compile/quantize/weights/quantize-weight.ts";
import { weightQuantizer } from "#sdk/compile/quantize/weights/weight-quantizer.ts";

/** Inputs of a row: the fused graph, its activation statistics and the calibration batches. */
export interface Subject {
  readonly fused: Graph;
  readonly statistics: CalibrationStatistics;
  readonly batches: readonly TokenBatch[];
  /** Chooses which weights of the edge engine have 4 bits, so that its model file has at most `maxSize` bytes. */
  readonly formsFor: (quantizers: EdgeQuantizers, maxSize: number) => Promise<EdgeForms>;
}

/**
 * A precision to measure. Every row is measured on STS-B. A row with `retrieval: true` is also measured on retrieval,
 * and a row with `classification: true` is also measured on classification.
 */
export interface Row {
  /** Stable key of the result in docs/accuracy.json. */
  readonly id: string;
  readonly title: string;
  /**
   * `edge` is our engine, or the reference kernels if our engine has no kernels for this precision. `as written` is onnxruntime
   * without its optimizer, which cannot load static int8 on CPUs whose int8 products overflow.
   */
  readonly engine: "edge" | "onnxruntime" | "as written";
  readonly retrieval?: boolean;
  readonly classification?: boolean;
  readonly make: (subject: Subject) => Graph | Promise<Graph>;
}

export interface Section {
  readonly title: string;
  readonly text: string;
  readonly rows: readonly Row[];
}

const withOptions = (...names: (keyof RoundingOptions)[]): RoundingOptions => ({
  ...ROUND_TO_NEAREST,
  ...Object.fromEntries(names.map((name) => [name, true])),
});

/** Quantizes the fused graph with a scheme. */
const quantized =
  (scheme: () => QuantizationScheme, rounding = ROUND_TO_NEAREST): Row["make"] =>
  ({ fused, statistics }) =>
    quantizeGraph(fused, scheme(), weightQuantizer(rounding, statistics));

/**
 * Smooths the activations, and then quantizes the graph with a scheme. The smoothing uses either the activation
 * statistics of texts or the gains of the layer normalizations.
 */
const smoothed =
  (scheme: () => QuantizationScheme, rounding = ROUND_TO_NEAREST, by: "texts" | "gains" = "texts"): Row["make"] =>
  ({ fused, statistics }) => {
    const smooth = smoothActivations(fused, by, statistics);
    return quantizeGraph(smooth.graph, scheme(), weightQuantizer(rounding, smooth.statistics));
  };

const shipped =
  (precision: keyof typeof precisions, options: PrecisionOptions = {}): Row["make"] =>
  ({ fused, statistics }) =>
    precisions[precision](fused, { statistics, ...options })();

/** Quantizes for a model file of the edge engine of at most some megabytes. */
const inMegabytes =
  (megabytes: number): Row["make"] =>
  async ({ fused, statistics, formsFor }) => {
    const quantizers = edgeQuantizers(fused, statistics);
    return quantizers.quantizer(await formsFor(quantizers, megabytes * 1e6))();
  };

const edgeRow = (id: string, title: string, make: Row["make"]): Row => ({ id, title, engine: "edge", make });
const row = (id: string, title: string, make: Row["make"]): Row => ({ id, title, engine: "onnxruntime", make });
const staticRow = (id: string, title: string, rangeOf: (range: ObservedRange) => ActivationRange): Row => ({
  ...{ id, title, engine: "as written" },
  async make({ fused, batches }) {
    const observed = await observeRanges(fused, batches, { threads: 1 });
    return quantizeInt8Static(fused, new Map([...observed].map(([value, range]) => [value, rangeOf(range)])));
  },
});
const blocks = (precision: BlockPrecision) => () => matMulNBits(precision);

export const sections: readonly Section[] = [
  {
    title: "Shipped precisions",
    text: "The precisions that `prepare` and `quantize` make. Rows of the edge engine are measured on the engine itself. Options without kernels are measured on its reference kernels in `test/oracles/reference`. _Weights_: size of the edge engine's model file; in onnxruntime, size of the weights. _At most 16 MB_ or _13.5 MB_: `--max-size` chooses which layers, and whether the table, have 4 bits.",
    rows: [
      { ...row("fp32", "float32", ({ fused }) => fused), retrieval: true, classification: true },
      {
        ...edgeRow("edge", "edge engine, everything integer", shipped("int8-edge")),
        retrieval: true,
        classification: true,
      },
      {
        ...edgeRow("edge-int4-table", "edge engine, int4 token embeddings", shipped("int8-edge", { tableBits: 4 })),
        retrieval: true,
        classification: true,
      },
      {
        ...edgeRow(
          "edge-int4",
          "edge engine, int4 weights and table",
          shipped("int8-edge", { weightBits: 4, tableBits: 4 }),
        ),
        retrieval: true,
        classification: true,
      },
      { ...edgeRow("edge-16", "edge engine, at most 16 MB", inMegabytes(16)), retrieval: true },
      { ...edgeRow("edge-13.5", "edge engine, at most 13.5 MB", inMegabytes(13.5)), retrieval: true },
      { ...row("int8", "int8: onnxruntime's fastest kernels", shipped("int8")), retrieval: true, classification: true },
      {
        ...row("int8-mixed", "int8-mixed: int8 attention, MatMulNBits elsewhere", shipped("int8-mixed")),
        retrieval: true,
        classification: true,
      },
      {
        ...row("int8-blocks", "int8-blocks: MatMulNBits, 8 bits", shipped("int8-blocks")),
        retrieval: true,
        classification: true,
      },
      { ...row("fp16", "fp16", shipped("fp16")), retrieval: true, classification: true },
      row("int8-int4-table", "int8, int4 token embeddings", shipped("int8", { tableBits: 4 })),
      row("int8-int4-ffn", "int8, int4 feed-forward weights", shipped("int8", { feedForwardBits: 4 })),
    ],
  },
  {
    title: "7-bit weights or 7-bit activations (edge engine)",
    text: "The dot product instruction of WebAssembly SIMD multiplies 8-bit by 7-bit numbers. In this table, weights are rounded to the nearest, without calibration.",
    rows: [
      edgeRow(
        "edge-weights-7",
        "7-bit weights × 8-bit activations",
        quantized(() => int8Edge()),
      ),
      edgeRow(
        "edge-activations-7",
        "8-bit weights × 7-bit activations",
        quantized(() => int8Edge({ operands: SEVEN_BIT_ACTIVATIONS })),
      ),
    ],
  },
  {
    title: "Rounding options (edge engine)",
    text: "The baseline is 7-bit weights rounded to the nearest, above. _Clipping_: scales minimize the squared error and may clip the largest weights. _GPTQ_: later weights compensate for the rounding errors of earlier ones. _Bias correction_: the bias compensates for the change of each output's mean. _Smoothing_ (SmoothQuant): moves range from activations into weights, according to the gains of layer normalizations or to activations on texts.",
    rows: [
      edgeRow(
        "edge-clipping",
        "clipping",
        quantized(() => int8Edge(), withOptions("clipping")),
      ),
      edgeRow(
        "edge-bias",
        "bias correction",
        quantized(() => int8Edge(), withOptions("biasCorrection")),
      ),
      edgeRow(
        "edge-compensation",
        "GPTQ",
        quantized(() => int8Edge(), withOptions("gptq")),
      ),
      edgeRow(
        "edge-all",
        "all three",
        quantized(() => int8Edge(), withOptions("clipping", "gptq", "biasCorrection")),
      ),
      edgeRow(
        "edge-smoothing-gains",
        "smoothing by gains",
        smoothed(() => int8Edge(), ROUND_TO_NEAREST, "gains"),
      ),
      edgeRow(
        "edge-smoothing",
        "smoothing by texts",
        smoothed(() => int8Edge()),
      ),
      edgeRow(
        "edge-smoothing-compensation",
        "smoothing by texts, GPTQ",
        smoothed(() => int8Edge(), withOptions("gptq")),
      ),
    ],
  },
  {
    title: "Rounding options (int8, onnxruntime)",
    text: "Activations have one scale per tensor; weights are int8 with one scale per output channel.",
    rows: [
      row("int8-nearest", "rounded to the nearest", quantized(int8Dynamic)),
      row("int8-smoothing-gains", "smoothing by gains", smoothed(int8Dynamic, ROUND_TO_NEAREST, "gains")),
      row("int8-smoothing", "smoothing by texts", smoothed(int8Dynamic)),
      row(
        "int8-smoothing-clipping",
        "smoothing by gains, clipping",
        smoothed(int8Dynamic, withOptions("clipping"), "gains"),
      ),
      row(
        "int8-smoothing-bias",
        "smoothing by gains, bias correction",
        smoothed(int8Dynamic, withOptions("biasCorrection"), "gains"),
      ),
      row(
        "int8-smoothing-compensation",
        "smoothing by gains, GPTQ",
        smoothed(int8Dynamic, withOptions("gptq"), "gains"),
      ),
    ],
  },
  {
    title: "MatMulNBits",
    text: "Every block of inputs has a scale and a zero point, for weights and for activations.",
    rows: [
      row("blocks-8-32", "8 bits, blocks of 32, to the nearest", quantized(blocks({ bits: 8, block: 32 }))),
      row("blocks-8-128", "8 bits, blocks of 128, to the nearest", quantized(blocks({ bits: 8, block: 128 }))),
      row("blocks-4-32", "4 bits, blocks of 32, to the nearest", quantized(blocks({ bits: 4, block: 32 }))),
      row(
        "blocks-4-32-clipping",
        "4 bits, clipping",
        quantized(blocks({ bits: 4, block: 32 }), withOptions("clipping")),
      ),
      row("blocks-4-32-compensation", "4 bits, GPTQ", quantized(blocks({ bits: 4, block: 32 }), withOptions("gptq"))),
    ],
  },
  {
    title: "Static int8",
    text: "QuantizeLinear/DequantizeLinear pairs (QDQ) in standard operators, for TensorRT and onnxruntime. They are symmetric, with one fixed scale per tensor. Models that were not trained for this lose more accuracy than in any other mode. `quantize` tries the first three ways to find ranges, in this order, and uses the first that reaches the accuracy limit.",
    rows: [
      staticRow("static-least-error", "ranges with the smallest error", ({ histogram }) => minErrorRange(histogram)),
      staticRow("static-min-max", "min and max", (range) => range),
      staticRow("static-99.999", "99.999th percentile", ({ histogram }) => percentileRange(histogram, 99.999)),
      staticRow("static-99.99", "99.99th percentile, not used", ({ histogram }) => percentileRange(histogram, 99.99)),
    ],
  },
];
