import { join } from "node:path";
import type { TokenBatch } from "../evaluate/token-batches.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { fromOnnx } from "../onnx/from-onnx.ts";
import { readOnnx } from "../onnx/read-onnx.ts";
import {
  type CalibrationStatistics,
  type StoredStatistics,
  storedStatistics,
  writeStatistics,
} from "../quantize/calibration/activation-statistics.ts";
import { statisticsObserver } from "../quantize/calibration/observe-statistics.ts";
import { observeValues } from "../quantize/calibration/observe-values.ts";
import { overflowObserver } from "../quantize/fp16/overflow-observer.ts";
import { type ObservedRange, observeRanges } from "../quantize/static/observe-ranges.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { reportProgress } from "../subprocess/messages.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";
import { graphFile } from "./engine-file.ts";
import type { Stage } from "./stage.ts";

/** The results of the observe stage. */
export interface Observations {
  /**
   * Activation statistics for the input of each weight matrix. They are stored in a file and read when they are needed.
   */
  readonly statistics: CalibrationStatistics & { readonly weights: readonly string[] };
  /** Ranges of MatMul inputs. */
  readonly ranges: ReadonlyMap<Value, ObservedRange>;
  /** Names of the nodes whose values overflow fp16. */
  readonly overflowing: ReadonlySet<string>;
}

export interface ObserveInput {
  readonly graph: Graph;
  readonly batches: readonly TokenBatch[];
  readonly kinds: readonly (keyof Observations)[];
}

/** The requested observations. */
export type Observed = Partial<Observations>;

/**
 * Observes a graph's activations on batches of tokens. A subprocess runs the graph, because an engine's session takes
 * several times the model's memory.
 *
 * @throws BertEdgeError `calibration_failed`, and the errors of `observeStatistics` and `observeRanges`
 */
export const observe: Stage<ObserveInput, Observed> = {
  name: "observe",
  describe: () => "observe activations",
  async run(input, { folder, signal, progress }) {
    const { graph, batches, kinds } = input;
    const model = await graphFile(graph, folder);
    const statistics = join(folder, "statistics");
    const found = await inSubprocess("compile/stages/observe", observeFile, {
      failure: "calibration_failed",
      what: "Activations could not be observed",
      // Large models take minutes for hundreds of texts. A deadline of one day therefore stops only a subprocess that
      // hangs.
      deadlineMs: 24 * 60 * 60_000,
      signal,
      onProgress: (fraction) => progress(observe.describe(input), fraction),
    })(model, batches, kinds, statistics);
    return received(found, graph, statistics);
  },
  report: ({ statistics, ranges, overflowing }) => ({
    ...(statistics && { matrices: statistics.weights.length }),
    ...(ranges && { ranges: ranges.size }),
    ...(overflowing && { overflowing: [...overflowing] }),
  }),
};

function received(found: SentObservations, graph: Graph, statisticsFile: string): Observed {
  const values = valuesOf(graph);
  const { statistics, ranges, overflowing } = found;
  return {
    ...(statistics && {
      statistics: { ...storedStatistics(statisticsFile, statistics), weights: statistics.map(({ weight }) => weight) },
    }),
    ...(ranges && { ranges: new Map(ranges.map(([at, range]) => [values[at] as Value, range])) }),
    ...(overflowing && { overflowing }),
  };
}

/**
 * Observations in the form that a subprocess can send. Positions in the statistics file replace the statistics, and
 * indices in the result of `valuesOf` replace the values.
 */
interface SentObservations {
  statistics?: StoredStatistics[];
  ranges?: (readonly [value: number, range: ObservedRange])[];
  overflowing?: ReadonlySet<string>;
}

/**
 * Observes the activations of a model file, in the process that calls this function.
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
  const overflow = kinds.includes("overflowing") ? overflowObserver(graph) : undefined;
  const writer = kinds.includes("statistics") ? await writeStatistics(statisticsFile) : undefined;
  const statistics = writer && statisticsObserver(graph, writer.write);
  const observers = [overflow, statistics].filter((observer) => observer !== undefined);
  // Without statistics, a batch that does not run matters less: the other batches show what overflows.
  const onFailure = statistics ? "throw" : "skip";
  if (observers.length > 0) await observeValues(graph, batches, observers, { onFailure, progress: reportProgress });
  if (overflow) sent.overflowing = overflow.overflowing();
  if (writer) {
    const stored = new Map((await writer.end()).map((each) => [each.weight, each]));
    sent.statistics = statistics?.weights.flatMap((weight) => stored.get(weight) ?? []) ?? [];
  }
  if (kinds.includes("ranges")) {
    const values = valuesOf(graph);
    const ranges = await observeRanges(graph, batches, { threads: 1, progress: reportProgress });
    sent.ranges = [...ranges].map(([value, range]) => [values.indexOf(value), range]);
  }
  return sent;
}

/**
 * Returns the graph's inputs and the results of its nodes. Writing and reading the graph does not change their order.
 */
const valuesOf = (graph: Graph): (Value | undefined)[] => [
  ...graph.inputs,
  ...graph.sorted().flatMap(({ outputs }) => outputs),
];
