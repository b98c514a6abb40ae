import type * as ort from "onnxruntime-node";
import { BertEdgeError } from "../../../artifact/error.ts";
import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { numbersOf, type Tensor } from "../../graph/tensor.ts";
import { binOf, emptyHistogram, type Histogram, type Range } from "./histogram.ts";
import { plainProducts, productsIn } from "./plain-products.ts";

/** What a value was over all calibration batches. */
export interface ObservedRange extends Range {
  readonly histogram: Histogram;
}

export interface ObserveOptions {
  /** Default: onnxruntime's, one a core. */
  readonly threads?: number;
}

/** The graph input by which rows are left out, where there is one: [batch, sequence], 0 for padding. */
const MASK = "attention_mask";

/**
 * Runs a graph on calibration batches and finds what the inputs of its products with constant float32 weights are. Rows of
 * padding do not count. Activations are not kept: one batch of them is in memory at a time.
 *
 * @param graph unfused, or as `fuseGraph` leaves it
 * @param batches inputs by name
 * @returns for every input of a product, a value of `graph`, its range
 * @throws BertEdgeError `calibration_invalid` when the graph does not run on a batch, when an activation is not finite, or
 *   when the batches do not reach a product
 */
export async function observedRanges(
  graph: Graph,
  batches: readonly ReadonlyMap<string, Tensor>[],
  { threads }: ObserveOptions = {},
): Promise<ReadonlyMap<Value, ObservedRange>> {
  const { graph: plain, twins } = plainProducts(graph);
  const observed = new Map<Value, Accumulator>();
  for (const product of productsIn(plain)) {
    const x = product.inputs[0] as Value;
    if (!observed.has(x)) observed.set(x, { product, least: 0, greatest: 0, histogram: emptyHistogram(), count: 0 });
  }
  const names = new Map([...observed.keys()].map((value, i) => [value, `observed ${i}`]));
  plain.outputs.length = 0;
  for (const [value, name] of names) plain.outputs.push({ name, value, declaration: undefined });
  plain.prune();
  if (observed.size === 0) return new Map();

  const session = await ortSession(plain, {
    // Fusions would remove what is to be observed.
    graphOptimizationLevel: "disabled",
    ...(threads !== undefined && { intraOpNumThreads: threads }),
  });
  try {
    for (const [i, batch] of batches.entries()) {
      const results = await run(session, batch, i);
      const mask = batch.get(MASK);
      for (const [value, accumulator] of observed) {
        add(accumulator, results[names.get(value) as string] as ort.Tensor, mask);
      }
    }
  } finally {
    await session.release();
  }
  for (const { count, product } of observed.values()) if (count === 0) throw unreached(product, batches.length);
  return new Map(
    [...twins].flatMap(([original, twin]) => {
      const found = observed.get(twin);
      return found ? [[original, { least: found.least, greatest: found.greatest, histogram: found.histogram }]] : [];
    }),
  );
}

interface Accumulator {
  readonly product: Node;
  readonly histogram: Histogram;
  least: number;
  greatest: number;
  count: number;
}

async function run(session: ort.InferenceSession, batch: ReadonlyMap<string, Tensor>, index: number) {
  const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
  try {
    return await session.run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])));
  } catch (cause) {
    throw new BertEdgeError("calibration_invalid", `The model does not run on calibration batch ${index}.`, {
      hint: `It wants ${session.inputNames.join(", ")}; texts must not be longer than it has positions.`,
      cause,
    });
  }
}

/** Counts the rows of a result, those aside that the mask hides. */
function add(accumulator: Accumulator, { data, dims }: ort.Tensor, mask: Tensor | undefined): void {
  const numbers = data as Float32Array;
  const bits = new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length);
  const present = mask && isOfTokens(dims, mask.shape) ? numbersOf(mask) : undefined;
  const width = dims.at(-1) ?? 1;
  const { histogram } = accumulator;
  for (let start = 0; start < numbers.length; start += width) {
    if (present && present[start / width] === 0) continue;
    for (let i = start; i < start + width; i++) {
      const number = numbers[i] as number;
      if (!Number.isFinite(number)) throw notFinite(accumulator.product, number);
      if (number < accumulator.least || accumulator.count === 0) accumulator.least = number;
      if (number > accumulator.greatest || accumulator.count === 0) accumulator.greatest = number;
      const bin = binOf(bits[i] as number);
      histogram[bin] = (histogram[bin] as number) + 1;
      accumulator.count++;
    }
  }
}

/** True for [batch, sequence, width], and for [batch · sequence, width]. */
const isOfTokens = (dims: readonly number[], [batch = 0, sequence = 0]: readonly number[]): boolean =>
  dims.length === 3 ? dims[0] === batch && dims[1] === sequence : dims.length === 2 && dims[0] === batch * sequence;

const notFinite = ({ origin }: Node, number: number) =>
  new BertEdgeError("calibration_invalid", `What product ${origin} reads has the number ${number}.`, {
    hint: "Check that the weights are finite, and that the model computes finite vectors in float32.",
  });

const unreached = ({ origin }: Node, batches: number) =>
  new BertEdgeError("calibration_invalid", `Product ${origin} read nothing in ${batches} calibration batches.`, {
    hint: "Calibrate on texts, of which some tokens at least are not padding.",
  });
