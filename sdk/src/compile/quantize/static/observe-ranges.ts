import type * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession, toOrt } from "../../evaluate/ort-session.ts";
import { maskIn } from "../../evaluate/token-batches.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";
import { constantMatMuls, exposeMatMuls } from "./expose-matmuls.ts";
import { type ActivationRange, binOf, emptyHistogram, type Histogram } from "./histogram.ts";

/** Range and histogram of a value over all calibration batches. */
export interface ObservedRange extends ActivationRange {
  readonly histogram: Histogram;
}

interface ObserveOptions {
  /** Number of threads. Default: one per core, as in onnxruntime. */
  readonly threads?: number;
  /** Called after each batch with the finished share, from 0 to 1. */
  readonly progress?: (fraction: number) => void;
}

/**
 * Runs a graph on calibration batches and collects activation ranges: one for the input of each MatMul or Gemm with a
 * constant float32 weight. Padding does not count. Only the activations of one batch are in memory at a time.
 *
 * @param graph unfused, or fused by `fuseGraph`
 * @param batches inputs by name
 * @returns the range of each observed value; the keys are values of `graph`
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on a batch, when an activation is not finite, or
 *   when a layer gets no tokens
 */
export async function observeRanges(
  graph: Graph,
  batches: readonly ReadonlyMap<string, Tensor>[],
  { threads, progress }: ObserveOptions = {},
): Promise<ReadonlyMap<Value, ObservedRange>> {
  const { graph: exposed, copies } = exposeMatMuls(graph);
  const observed = new Map<Value, Accumulator>();
  for (const matMul of constantMatMuls(exposed)) {
    const x = matMul.inputs[0] as Value;
    if (!observed.has(x)) observed.set(x, { matMul, min: 0, max: 0, histogram: emptyHistogram(), count: 0 });
  }
  const names = new Map([...observed.keys()].map((value, i) => [value, `observed ${i}`]));
  exposed.outputs.length = 0;
  for (const [value, name] of names) exposed.outputs.push({ name, value, declaration: undefined });
  exposed.prune();
  if (observed.size === 0) return new Map();

  const session = await ortSession(exposed, {
    // Optimizations could remove the values to observe.
    graphOptimizationLevel: "disabled",
    ...(threads !== undefined && { intraOpNumThreads: threads }),
  });
  try {
    for (const [i, batch] of batches.entries()) {
      const results = await run(session, batch, i);
      const mask = maskIn(batch);
      for (const [value, accumulator] of observed) {
        add(accumulator, results[names.get(value) as string] as ort.Tensor, mask);
      }
      progress?.((i + 1) / batches.length);
    }
  } finally {
    await session.release();
  }
  for (const { count, matMul } of observed.values()) if (count === 0) throw noTokens(matMul, batches.length);
  return new Map(
    [...copies].flatMap(([original, copy]) => {
      const found = observed.get(copy);
      return found ? [[original, { min: found.min, max: found.max, histogram: found.histogram }]] : [];
    }),
  );
}

interface Accumulator {
  readonly matMul: Node;
  readonly histogram: Histogram;
  min: number;
  max: number;
  count: number;
}

async function run(session: ort.InferenceSession, batch: ReadonlyMap<string, Tensor>, index: number) {
  const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
  try {
    return await session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
  } catch (cause) {
    throw new BertEdgeError("calibration_invalid", `The model does not run on calibration batch ${index}.`, {
      hint: `The model needs the inputs ${session.inputNames.join(", ")}. Texts must not have more tokens than the model has positions.`,
      cause,
    });
  }
}

/** Adds the numbers of a tensor to the range and the histogram in `accumulator`. Skips padding rows. */
function add(accumulator: Accumulator, { data, dims }: ort.Tensor, mask: Tensor | undefined): void {
  const numbers = data as Float32Array;
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  const isToken = mask && hasRowPerToken(dims, mask.shape) ? numbersOf(mask) : undefined;
  const width = dims.at(-1) ?? 1;
  const { histogram } = accumulator;
  for (let start = 0; start < numbers.length; start += width) {
    if (isToken && isToken[start / width] === 0) continue;
    for (let i = start; i < start + width; i++) {
      const number = numbers[i] as number;
      if (!Number.isFinite(number)) throw notFinite(accumulator.matMul, number);
      if (number < accumulator.min || accumulator.count === 0) accumulator.min = number;
      if (number > accumulator.max || accumulator.count === 0) accumulator.max = number;
      const bin = binOf(bits[i] as number);
      histogram[bin] = (histogram[bin] as number) + 1;
      accumulator.count++;
    }
  }
}

/** Whether a value has a row per token: [batch, sequence, width] or [batch · sequence, width]. */
const hasRowPerToken = (dims: readonly number[], [batch = 0, sequence = 0]: readonly number[]): boolean =>
  dims.length === 3 ? dims[0] === batch && dims[1] === sequence : dims.length === 2 && dims[0] === batch * sequence;

const notFinite = ({ origin }: Node, number: number) =>
  new BertEdgeError("calibration_invalid", `Linear layer "${origin}" reads ${number} on the calibration texts.`, {
    hint: "Check that the weights are finite, and that the model computes finite vectors in float32.",
  });

const noTokens = ({ origin }: Node, batches: number) =>
  new BertEdgeError(
    "calibration_invalid",
    `Linear layer "${origin}" reads no tokens in the ${batches} calibration batches.`,
    {
      hint: "Calibrate on at least one text with tokens that are not padding.",
    },
  );
