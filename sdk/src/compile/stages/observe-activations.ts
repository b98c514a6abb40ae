import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TokenBatch } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import type { CalibrationStatistics } from "../quantize/calibration/activation-statistics.ts";
import { observeStatistics } from "../quantize/calibration/observe-statistics.ts";
import { type StoredStatistics, storedStatistics, writeStatistics } from "../quantize/calibration/statistics-file.ts";
import { overflowingNodes } from "../quantize/fp16/overflowing-nodes.ts";
import { type ObservedRange, observeRanges } from "../quantize/static/observe-ranges.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";

/** Everything that can be observed about a graph's activations. */
export interface Observations {
  /** Statistics of what each weight matrix multiplies. They lie in a file of the folder and are read when asked for. */
  readonly statistics: CalibrationStatistics & { readonly weights: readonly string[] };
  /** Ranges of the inputs of MatMuls. */
  readonly ranges: ReadonlyMap<Value, ObservedRange>;
  /** Names of the nodes whose values do not fit half precision. */
  readonly overflowing: ReadonlySet<string>;
}

export interface ObserveOptions<Kind extends keyof Observations> {
  readonly kinds: readonly Kind[];
  /** Folder for temporary files and for the statistics. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a graph on batches of tokens in a subprocess, because a session takes several times the model's memory.
 *
 * @throws BertEdgeError `calibration_failed`, `aborted`, and as `observeStatistics`, `observeRanges` and `overflowingNodes`
 */
export async function observeActivations<Kind extends keyof Observations>(
  graph: Graph,
  batches: readonly TokenBatch[],
  { kinds, folder, signal }: ObserveOptions<Kind>,
): Promise<Pick<Observations, Kind>> {
  const [model, statistics] = [join(folder, "observed.onnx"), join(folder, "statistics")];
  await writeOnnx(model, graph);
  const found = await inSubprocess(import.meta.url, observeFile, {
    failure: "calibration_failed",
    what: "Activations could not be observed",
    // Large models take minutes for hundreds of texts.
    deadlineMs: 24 * 60 * 60_000,
    signal,
  })(model, batches, kinds, statistics);
  for (const path of [model, `${model}.data`]) await rm(path, { force: true });
  const values = valuesOf(graph);
  const observations: Partial<Observations> = {
    ...(found.statistics && {
      statistics: {
        ...storedStatistics(statistics, found.statistics),
        weights: found.statistics.map(({ weight }) => weight),
      },
    }),
    ...(found.ranges && { ranges: new Map(found.ranges.map(([at, range]) => [values[at] as Value, range])) }),
    ...(found.overflowing && { overflowing: found.overflowing }),
  };
  return observations as Pick<Observations, Kind>;
}

/** The observations as a subprocess sends them: statistics by their place in a file, values by position in `valuesOf`. */
interface SentObservations {
  statistics?: StoredStatistics[];
  ranges?: (readonly [value: number, range: ObservedRange])[];
  overflowing?: ReadonlySet<string>;
}

/**
 * Observes a model file's activations in this process.
 *
 * @inSubprocess
 */
export async function observeFile(
  model: string,
  batches: readonly TokenBatch[],
  kinds: readonly (keyof Observations)[],
  statisticsFile: string,
): Promise<SentObservations> {
  const graph = fromOnnx(await readOnnx(model));
  inferShapes(graph);
  const sent: SentObservations = {};
  if (kinds.includes("statistics")) {
    sent.statistics = await writeStatistics(statisticsFile, await observeStatistics(graph, batches));
  }
  if (kinds.includes("overflowing")) sent.overflowing = await overflowingNodes(graph, batches);
  if (kinds.includes("ranges")) {
    const values = valuesOf(graph);
    const ranges = await observeRanges(graph, batches, { threads: 1 });
    sent.ranges = [...ranges].map(([value, range]) => [values.indexOf(value), range]);
  }
  return sent;
}

/** A graph's inputs and results, in an order that writing and reading the graph keeps. */
const valuesOf = (graph: Graph): (Value | undefined)[] => [
  ...graph.inputs,
  ...graph.sorted().flatMap(({ outputs }) => outputs),
];
