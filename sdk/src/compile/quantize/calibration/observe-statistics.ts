import { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { type Attribute, int, ints } from "../../graph/attribute.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { int64s, tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { type LinearLayer, linearLayersOf } from "../linear-layers.ts";
import type { ActivationStatistics } from "./activation-statistics.ts";
import { type Observer, observeValues } from "./observe-values.ts";

/**
 * Maximum bytes of Gram matrices that one pass collects. This is enough for two layers of BERT-base, or for all
 * layers of MiniLM.
 */
const PASS_BYTES = 128 << 20;

/**
 * Rows of a strip of the Gram matrix. The matrix is symmetric, so a strip ends at the diagonal. For 1536 channels, the
 * strips take two thirds of the time of the whole matrix; smaller and larger strips take longer.
 */
const STRIP = 256;
/** The opset from which Slice reads its bounds from inputs instead of attributes. */
const SLICE_WITH_INPUTS = 10;
const ONE: Attribute = { kind: "tensor", value: tensor("float32", [1], Float32Array.of(1)) };

interface StatisticsOptions {
  /** Maximum bytes of Gram matrices that one pass over the batches collects. */
  readonly passBytes?: number;
  /** Another observer, which observes the last pass. A pass of its own would run the graph once more. */
  readonly alongside?: Observer | undefined;
}

/**
 * Collects activation statistics of the linear layers of a float32 graph over the calibration texts. Padding tokens do not
 * count. onnxruntime computes the sums as additional outputs of the graph, for a few layers per pass.
 *
 * @returns statistics by name of the weight matrix
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on the batches, or when a layer reads NaN or
 *   infinite numbers
 */
export async function observeStatistics(
  graph: Graph,
  batches: readonly TokenBatch[],
  { passBytes = PASS_BYTES, alongside }: StatisticsOptions = {},
): Promise<ReadonlyMap<string, ActivationStatistics>> {
  const readers = Map.groupBy(linearLayersOf(graph), ({ x }) => x);
  const passes = passesOf([...readers.keys()], passBytes);
  const byWeight = new Map<string, ActivationStatistics>();
  for (const pass of passes) {
    const observers = pass.map(statisticsObserver);
    const others = alongside && pass === passes.at(-1) ? [alongside] : [];
    await observeValues(graph, batches, [...observers, ...others]);
    observers.forEach(({ statistics }, i) => {
      const layers = readers.get(pass[i] as Value) as LinearLayer[];
      mirror(statistics);
      assertFinite(statistics, layers);
      for (const { weight } of layers) {
        const before = byWeight.get(weight.name);
        byWeight.set(weight.name, before ? added(before, statistics) : statistics);
      }
    });
  }
  return byWeight;
}

const widthOf = (x: Value): number => x.shape?.at(-1) as number;

/**
 * Groups values so that the Gram matrices of each group have at most `passBytes` bytes. A value whose matrix is larger
 * gets a group of its own. Without values, there is one empty group.
 */
function passesOf(values: readonly Value[], passBytes: number): Value[][] {
  let pass: Value[] = [];
  const passes = [pass];
  let room = passBytes;
  for (const value of values) {
    const bytes = 4 * widthOf(value) ** 2;
    if (bytes > room && pass.length > 0) {
      pass = [];
      passes.push(pass);
      room = passBytes;
    }
    pass.push(value);
    room -= bytes;
  }
  return passes;
}

/** Collects the statistics of one value. Of the Gram matrix, it computes the strips only. */
function statisticsObserver(value: Value): Observer & { readonly statistics: ActivationStatistics } {
  const width = widthOf(value);
  const statistics = { width, tokens: 0, sum: new Float32Array(width), gram: new Float32Array(width * width) };
  return {
    statistics,
    summarize(graph, copyOf) {
      const add = (opType: string, inputs: Value[], attributes: Record<string, Attribute> = {}) =>
        graph.add(opType, inputs, { attributes }).output;
      const sizes = (...all: number[]) => graph.constant("sizes", int64s(...all));
      const slice = (matrix: Value, axis: number, start: number, end: number) =>
        (graph.opsets.get("") ?? 1) < SLICE_WITH_INPUTS
          ? add("Slice", [matrix], { axes: ints(axis), starts: ints(start), ends: ints(end) })
          : add("Slice", [matrix, sizes(start), sizes(end), sizes(axis)]);
      const x = copyOf(value);
      const rows = add("Reshape", [x, sizes(-1, width)]);
      const mask = graph.inputs.find(({ name }) => name === "attention_mask");
      // A value with one row per text, for example after pooling, has no padding rows.
      const counted =
        mask && x.shape?.length === 3
          ? add("Reshape", [add("Cast", [mask], { to: int(dataTypes.float32) }), sizes(-1)])
          : add("ConstantOfShape", [add("Gather", [add("Shape", [rows]), sizes(0)])], { value: ONE });
      const columns = add("Mul", [add("Transpose", [rows], { perm: ints(1, 0) }), counted]);
      const strips = stripsOf(width).map(([start, end]) =>
        add("MatMul", [slice(columns, 0, start, end), slice(rows, 1, 0, end)]),
      );
      return [add("MatMul", [counted, counted]), add("MatMul", [counted, rows]), ...strips];
    },
    add([count, sum, ...strips]) {
      statistics.tokens += count?.[0] as number;
      addTo(statistics.sum, sum as Float32Array);
      stripsOf(width).forEach(([start, end], i) => {
        const strip = strips[i] as Float32Array;
        for (let row = 0; row < end - start; row++)
          addTo(statistics.gram.subarray((start + row) * width), strip.subarray(row * end, (row + 1) * end));
      });
    },
  };
}

/** First row and end of each strip. A strip has the columns from 0 to its end. */
const stripsOf = (width: number): [start: number, end: number][] =>
  Array.from({ length: Math.ceil(width / STRIP) }, (_, i) => [i * STRIP, Math.min((i + 1) * STRIP, width)]);

/** Copies the lower triangle of the Gram matrix to the upper one. */
function mirror({ width, gram }: ActivationStatistics): void {
  for (let row = 0; row < width; row++)
    for (let column = row + 1; column < width; column++)
      gram[row * width + column] = gram[column * width + row] as number;
}

const added = (a: ActivationStatistics, b: ActivationStatistics): ActivationStatistics => ({
  width: a.width,
  tokens: a.tokens + b.tokens,
  sum: a.sum.map((value, i) => value + (b.sum[i] as number)),
  gram: a.gram.map((value, i) => value + (b.gram[i] as number)),
});

function addTo(total: Float32Array, more: Float32Array): void {
  for (let i = 0; i < more.length; i++) total[i] = (total[i] as number) + (more[i] as number);
}

function assertFinite({ sum, gram }: ActivationStatistics, [layer]: readonly LinearLayer[]): void {
  if (sum.every(Number.isFinite) && gram.every(Number.isFinite)) return;
  throw new BertEdgeError(
    "calibration_invalid",
    `Linear layer "${layer?.name}" reads NaN or infinite numbers on the calibration texts.`,
    { hint: "Check the weights before this layer for NaN, infinite and very large numbers." },
  );
}
