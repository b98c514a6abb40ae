import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { ownModule } from "../../../local/own-module.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Value } from "../../graph/node.ts";
import { byteLength, reading, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import { abortedError, throwIfAborted } from "../../subprocess/aborted.ts";
import {
  gramBlocks,
  gramLength,
  type ScaledCalibration,
  type ScaledStatistics,
} from "../calibration/activation-statistics.ts";
import type { LinearLayer } from "../linear-layers.ts";
import { type QuantizedWeight, quantizeWeight, type RoundingOptions, type WeightPrecision } from "./quantize-weight.ts";

/**
 * Quantizes the weight matrices of linear layers.
 *
 * @returns the quantized weights by name of the weight matrix
 */
export type WeightQuantizer = (
  layers: readonly LinearLayer[],
  precision: WeightPrecision,
  context?: WorkContext,
) => Promise<ReadonlyMap<string, QuantizedWeight>>;

/**
 * Makes a quantizer for the weights of one graph. Several weights are quantized at the same time. The quantizer caches
 * results that use statistics, because GPTQ is slow.
 */
export function weightQuantizer(rounding: RoundingOptions, byWeight?: ScaledCalibration): WeightQuantizer {
  const known = new Map<string, QuantizedWeight>();
  return async (layers, precision, context) => {
    const keyOf = (weight: string) => `${weight} ${JSON.stringify(precision)}`;
    const weights = new Map(layers.map(({ weight }) => [weight.name, weight.constant]));
    const missing = [...weights].filter(([name]) => !known.has(keyOf(name)));
    const found = await quantizeWeights(
      missing.map(([name, weight]) => ({ weight, precision, rounding, statistics: () => byWeight?.get(name) })),
      context,
    );
    const quantized = new Map(missing.map(([name], i) => [name, found[i] as QuantizedWeight]));
    if (byWeight) for (const [name, weight] of quantized) known.set(keyOf(name), weight);
    return new Map(
      [...weights.keys()].map((name) => [name, (quantized.get(name) ?? known.get(keyOf(name))) as QuantizedWeight]),
    );
  };
}

/** Caches the results of `make` by weight matrix, so that layers with the same weight share one result. */
export function oncePerWeight<T>(
  make: (graph: Graph, layer: LinearLayer, quantized: QuantizedWeight) => T,
): typeof make {
  const made = new WeakMap<Value, T>();
  return (graph, layer, quantized) => {
    const known = made.get(layer.weight) ?? make(graph, layer, quantized);
    made.set(layer.weight, known);
    return known;
  };
}

/**
 * Returns the layer's bias plus the bias correction of its quantized weight; undefined if there is neither. A bias that
 * is not constant is returned without the correction.
 */
export function correctedBias(
  graph: Graph,
  { name, bias }: LinearLayer,
  correction: Float32Array | undefined,
): Value | undefined {
  if (!correction || (bias && !bias.constant)) return bias;
  const before = bias?.constant && toFloat32(bias.constant);
  const values = correction.map((value, i) => value + (before?.[i] ?? 0));
  return graph.constant(`${name}.bias`, tensor("float32", [values.length], values as Float32Array<ArrayBuffer>));
}

export interface WeightTask {
  /** float32 [in, out] */
  readonly weight: Tensor;
  readonly precision: WeightPrecision;
  readonly rounding: RoundingOptions;
  /** Reads the activation statistics; undefined without calibration. */
  readonly statistics: () => ScaledStatistics | undefined;
}

export interface WorkContext {
  readonly signal?: AbortSignal | undefined;
  /** Called after each weight with the finished share, from 0 to 1. */
  readonly progress?: ((fraction: number) => void) | undefined;
}

/** A task as a worker thread receives it: the arguments of `quantizeWeight`. */
export type WorkerTask = Parameters<typeof quantizeWeight>;

/**
 * Minimum number of elements to quantize for which threads are started, summed over all weights. Starting a thread takes as long as
 * quantizing about this number of elements.
 */
const MIN_ELEMENTS = 1 << 18;

/** Maximum bytes that all threads together may need. This is enough for 5 threads with BERT-base. */
const MAX_BYTES = 1 << 30;

/**
 * Quantizes weight matrices on all cores, each on one thread. The results do not depend on the number of threads.
 *
 * @returns the quantized weights, in the order of `tasks`
 * @throws BertEdgeError `aborted`, `package_bundled`
 */
export async function quantizeWeights(
  tasks: readonly WeightTask[],
  { signal, progress }: WorkContext = {},
): Promise<QuantizedWeight[]> {
  const results = new Array<QuantizedWeight>(tasks.length);
  // The largest tasks come first, so that the threads end at about the same time.
  const queue = [...tasks.keys()].sort((a, b) => bytesOf(tasks[b]) - bytesOf(tasks[a]));
  let finished = 0;
  const workThrough = async (quantize: (...task: WorkerTask) => Promise<QuantizedWeight> | QuantizedWeight) => {
    for (let at = queue.shift(); at !== undefined; at = queue.shift()) {
      throwIfAborted(signal);
      const { weight, precision, rounding, statistics } = tasks[at] as WeightTask;
      results[at] = await reading(weight, (read) => quantize(read, precision, rounding, statistics()));
      progress?.(++finished / tasks.length);
    }
  };
  const elements = tasks.reduce((sum, { weight }) => sum + byteLength(weight) / 4, 0);
  if (elements < MIN_ELEMENTS) {
    await workThrough(quantizeWeight);
    return results;
  }
  const threads = Math.min(availableParallelism(), tasks.length, Math.floor(MAX_BYTES / bytesOf(tasks[queue[0] ?? 0])));
  const workers = Array.from({ length: Math.max(threads, 1) }, () => startWorker(signal));
  try {
    await Promise.all(workers.map(({ quantize }) => workThrough(quantize)));
  } finally {
    await Promise.all(workers.map(({ stop }) => stop()));
  }
  return results;
}

/** Bytes that a thread needs: the weight twice, the Gram matrix, and the factors of its largest block in float32 and float64. */
function bytesOf(task: WeightTask | undefined): number {
  const [inputs = 0, outputs = 0] = task?.weight.shape ?? [];
  const [largest] = gramBlocks(inputs);
  return 2 * 4 * inputs * outputs + 4 * gramLength(inputs) + (4 + 8) * (largest?.width ?? 0) ** 2;
}

function startWorker(signal: AbortSignal | undefined) {
  const worker = new Worker(ownModule("compile/quantize/weights/weight-worker"), { execArgv: [] });
  let settle: PromiseWithResolvers<QuantizedWeight> | undefined;
  const fail = (error: Error) => settle?.reject(error);
  const onAbort = () => fail(abortedError(signal as AbortSignal));
  signal?.addEventListener("abort", onAbort, { once: true });
  worker.on("message", (quantized: QuantizedWeight) => settle?.resolve(quantized));
  worker.on("error", fail);
  worker.on("exit", (code) => fail(new Error(`A thread that quantizes weights ended with the exit code ${code}.`)));
  return {
    quantize(...task: WorkerTask): Promise<QuantizedWeight> {
      settle = Promise.withResolvers();
      worker.postMessage(task);
      return settle.promise;
    },
    async stop() {
      signal?.removeEventListener("abort", onAbort);
      await worker.terminate();
    },
  };
}
