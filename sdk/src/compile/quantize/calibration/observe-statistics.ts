import { BertEdgeError } from "../../../artifact/error.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import type { Graph } from "../../graph/graph.ts";
import { inputWithRole } from "../../graph/input-role.ts";
import { type Attribute, int, ints, type Value } from "../../graph/node.ts";
import { int64s, tensor } from "../../graph/tensor.ts";
import { dataTypes } from "../../onnx/tensor-proto.ts";
import { type LinearLayer, linearLayersOf } from "../linear-layers.ts";
import {
  type ActivationStatistics,
  type GramBlock,
  gramBlocks,
  gramLength,
  type WeightStatistics,
} from "./activation-statistics.ts";
import { type ObserveOptions, type Observer, observeValues } from "./observe-values.ts";

/**
 * Number of rows of a strip of a Gram block. The block is symmetric, so a strip ends at the diagonal. For 1536
 * channels, the strips take two thirds of the time of the whole block; smaller and larger strips take longer.
 */
const STRIP = 256;
/** The opset from which Slice reads its bounds from inputs instead of attributes. */
const SLICE_WITH_INPUTS = 10;
const ONE: Attribute = { kind: "tensor", value: tensor("float32", [1], Float32Array.of(1)) };

/** Observes the inputs of a float32 graph's linear layers. Padding tokens do not count. */
export interface StatisticsObserver extends Observer {
  /** Names of the weight matrices, in the order of the graph. */
  readonly weights: readonly string[];
}

/**
 * Makes the observer that collects activation statistics of all linear layers of a graph. onnxruntime computes the sums.
 *
 * @param onStatistics receives statistics when they are complete. The observer does not change their arrays afterwards.
 * @throws BertEdgeError `calibration_invalid` in `finish` when a layer reads NaN or infinite numbers
 */
export function statisticsObserver(
  graph: Graph,
  onStatistics: (found: WeightStatistics) => Promise<void>,
): StatisticsObserver {
  const groups = groupsOf(linearLayersOf(graph));
  const groupsReading = (value: Value) => groups.filter(({ values }) => values.has(value));
  return {
    values: [...new Set(groups.flatMap(({ values }) => [...values]))],
    weights: groups.flatMap(({ weights }) => weights),
    bytesOf: (value) => 4 * gramLength(widthOf(value)),
    summarize: (part, copy) => summariesOf(part, copy),
    add(value, summaries) {
      for (const group of groupsReading(value)) {
        group.statistics ??= emptyStatistics(widthOf(value));
        addSummaries(group.statistics, summaries);
      }
    },
    async finish(value) {
      for (const group of groupsReading(value)) {
        const { values, weights, statistics } = group;
        values.delete(value);
        if (values.size > 0 || !statistics) continue;
        group.statistics = undefined;
        mirror(statistics);
        assertFinite(statistics, group.layer);
        await onStatistics({ ...statistics, weights });
      }
    },
  };
}

/** Weight matrices that have the same inputs, and the statistics of these inputs. */
interface Group {
  /** Inputs that are not yet observed on all batches. */
  readonly values: Set<Value>;
  readonly weights: readonly string[];
  /** Name of a layer that reads the inputs. */
  readonly layer: string;
  statistics: (ActivationStatistics & { tokens: number }) | undefined;
}

function groupsOf(layers: readonly LinearLayer[]): Group[] {
  const byWeight = [...Map.groupBy(layers, ({ weight }) => weight)].map(([weight, readers]) => ({
    weight: weight.name,
    layer: (readers[0] as LinearLayer).name,
    values: new Set(readers.map(({ x }) => x)),
  }));
  const sharing = Map.groupBy(byWeight, ({ values }) => [...values].map(({ name }) => name).join("\n"));
  return [...sharing.values()].map((group) => ({
    values: (group[0] as (typeof group)[number]).values,
    weights: group.map(({ weight }) => weight),
    layer: (group[0] as (typeof group)[number]).layer,
    statistics: undefined,
  }));
}

/**
 * Collects activation statistics of the linear layers of a float32 graph over the calibration texts, in memory.
 *
 * @returns statistics by name of the weight matrix
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on the batches, or when a layer reads NaN or
 *   infinite numbers
 */
export async function observeStatistics(
  graph: Graph,
  batches: readonly TokenBatch[],
  options: ObserveOptions = {},
): Promise<ReadonlyMap<string, ActivationStatistics>> {
  const found = new Map<string, ActivationStatistics>();
  const observer = statisticsObserver(graph, async ({ weights, ...statistics }) => {
    for (const weight of weights) found.set(weight, statistics);
  });
  await observeValues(graph, batches, [observer], options);
  return new Map(observer.weights.flatMap((weight) => (found.has(weight) ? [[weight, found.get(weight)]] : [])) as []);
}

const widthOf = (x: Value): number => x.shape?.at(-1) as number;

const emptyStatistics = (width: number): ActivationStatistics & { tokens: number } => ({
  width,
  tokens: 0,
  sum: new Float32Array(width),
  gram: new Float32Array(gramLength(width)),
});

/** Adds the nodes that compute the number of rows, their sum, and the strips of their Gram matrix. */
function summariesOf(graph: Graph, x: Value): Value[] {
  const width = widthOf(x);
  const add = (opType: string, inputs: Value[], attributes: Record<string, Attribute> = {}) =>
    graph.add(opType, inputs, { attributes }).output;
  const sizes = (...all: number[]) => graph.constant("sizes", int64s(...all));
  const slice = (matrix: Value, axis: number, start: number, end: number) =>
    (graph.opsets.get("") ?? 1) < SLICE_WITH_INPUTS
      ? add("Slice", [matrix], { axes: ints(axis), starts: ints(start), ends: ints(end) })
      : add("Slice", [matrix, sizes(start), sizes(end), sizes(axis)]);
  const rows = add("Reshape", [x, sizes(-1, width)]);
  const mask = inputWithRole(graph, "attention_mask");
  // A value with one row per text, for example after pooling, has no padding rows.
  const counted =
    mask && x.shape?.length === 3
      ? add("Reshape", [add("Cast", [mask], { to: int(dataTypes.float32) }), sizes(-1)])
      : add("ConstantOfShape", [add("Gather", [add("Shape", [rows]), sizes(0)])], { value: ONE });
  const columns = add("Mul", [add("Transpose", [rows], { perm: ints(1, 0) }), counted]);
  const strips = stripsOf(width).map(({ block, start, end }) =>
    add("MatMul", [
      slice(columns, 0, block.start + start, block.start + end),
      slice(rows, 1, block.start, block.start + end),
    ]),
  );
  return [add("MatMul", [counted, counted]), add("MatMul", [counted, rows]), ...strips];
}

function addSummaries(
  statistics: ActivationStatistics & { tokens: number },
  [count, sum, ...strips]: readonly Float32Array[],
): void {
  const { width } = statistics;
  statistics.tokens += count?.[0] as number;
  addTo(statistics.sum, sum as Float32Array);
  stripsOf(width).forEach(({ block, start, end }, i) => {
    const strip = strips[i] as Float32Array;
    for (let row = 0; row < end - start; row++) {
      const at = block.offset + (start + row) * block.width;
      addTo(statistics.gram.subarray(at), strip.subarray(row * end, (row + 1) * end));
    }
  });
}

/** Rows from `start` to `end` of a block, without the columns after the diagonal. */
interface Strip {
  readonly block: GramBlock;
  readonly start: number;
  readonly end: number;
}

const stripsOf = (width: number): Strip[] =>
  gramBlocks(width).flatMap((block) =>
    Array.from({ length: Math.ceil(block.width / STRIP) }, (_, i) => ({
      block,
      start: i * STRIP,
      end: Math.min((i + 1) * STRIP, block.width),
    })),
  );

/** Copies the lower triangle of each block of the Gram matrix to the upper one. */
function mirror({ width, gram }: ActivationStatistics): void {
  for (const { width: size, offset } of gramBlocks(width))
    for (let row = 0; row < size; row++)
      for (let column = row + 1; column < size; column++)
        gram[offset + row * size + column] = gram[offset + column * size + row] as number;
}

function addTo(total: Float32Array, more: Float32Array): void {
  for (let i = 0; i < more.length; i++) total[i] = (total[i] as number) + (more[i] as number);
}

function assertFinite({ sum, gram }: ActivationStatistics, layer: string): void {
  if (sum.every(Number.isFinite) && gram.every(Number.isFinite)) return;
  throw new BertEdgeError(
    "calibration_invalid",
    `Linear layer "${layer}" reads NaN or infinite numbers on the calibration texts.`,
    { hint: "Check the weights before this layer for NaN, infinite and very large numbers." },
  );
}
