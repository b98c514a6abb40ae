import { type Dim, type Shape, substituteSymbols, symbolsOf } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { type DataType, elementCount, isInteger, numbersOf, type Tensor, tensorFromNumbers } from "../graph/tensor.ts";
import { runSubgraph } from "./run-subgraph.ts";

/**
 * Sources of a value: everything that the value is computed from. A value that holds sizes counts as a source, so its
 * own sources are not included.
 */
export interface ValueSources {
  /** Inputs of the graph. */
  readonly inputs: ReadonlySet<Value>;
  /** Values that hold sizes, such as the output of a Shape. */
  readonly sizes: ReadonlySet<Value>;
  readonly constants: ReadonlySet<Value>;
  /** Values that are computed from these sources, including the value itself. */
  readonly computed: ReadonlySet<Value>;
}

/**
 * Maximum number of values to search. Rules probe values such as masks and position ids, which depend on far fewer
 * values.
 */
const MAX_NODES = 512;

/**
 * Maximum number of elements of a tensor in a probe. A probe uses small numbers for dynamic sizes, but a model's fixed
 * sizes may be large.
 */
export const MAX_PROBED_ELEMENTS = 1 << 26;

/**
 * Finds the sources of a value.
 *
 * @returns undefined if the value depends on more than `MAX_NODES` values, on a sub-graph, or on a constant of an
 *   unsupported type, such as strings
 */
export function sourcesOf(value: Value): ValueSources | undefined {
  const [inputs, sizes, constants] = [new Set<Value>(), new Set<Value>(), new Set<Value>()];
  const computed = new Set<Value>();
  const seen = new Set<Value>();
  const stack = [value];
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (seen.size > MAX_NODES || next.opaque || (next.producer?.captures.length ?? 0) > 0) return undefined;
    if (next.constant) constants.add(next);
    else if (isSizes(next)) sizes.add(next);
    else if (!next.producer) inputs.add(next);
    else {
      computed.add(next);
      for (const input of next.producer.inputs) if (input) stack.push(input);
    }
  }
  return { inputs, sizes, constants, computed };
}

const isSizes = ({ content, shape, dtype }: Value): boolean =>
  content !== undefined && (shape?.length ?? 2) <= 1 && isInteger(dtype) && dtype !== "bool";

/**
 * Computes a value for given sizes and inputs. Values that hold sizes are not computed, but filled in from `symbols`.
 * The nodes before a `Shape` therefore do not run.
 *
 * @param symbols number for each symbolic size
 * @param given tensors for the inputs
 * @returns undefined if the value cannot be computed
 */
export async function probe(
  graph: Graph,
  value: Value,
  { sizes, constants, inputs, computed }: ValueSources,
  symbols: ReadonlyMap<string, number>,
  given: ReadonlyMap<Value, Tensor>,
): Promise<Tensor | undefined> {
  if ([...inputs].some((input) => !given.has(input))) return undefined;
  if ([...computed].some(({ shape }) => elementsAt(shape, symbols) > MAX_PROBED_ELEMENTS)) return undefined;
  const all = new Map(given);
  for (const size of sizes) {
    const known = sizesAt(size, symbols);
    if (!known) return undefined;
    all.set(size, known);
  }
  if (constants.has(value)) return value.constant;
  const results = await runSubgraph(graph, [value], all);
  return results?.[0];
}

/** Counts elements. Unknown sizes count as 1. */
const elementsAt = (shape: Shape | undefined, symbols: ReadonlyMap<string, number>): number =>
  elementCount((shape ?? []).map((dim) => Number(substituteSymbols(dim, (name) => symbols.get(name) ?? 1))));

/** Returns the symbols in the sizes that a value is computed from. */
export const symbolsIn = ({ sizes }: ValueSources): Set<string> =>
  new Set([...sizes].flatMap((value) => (value.content ?? []).flatMap(symbolsOf)));

function sizesAt({ content, shape, dtype }: Value, symbols: ReadonlyMap<string, number>): Tensor | undefined {
  const bound = content?.map((dim) => substituteSymbols(dim, (name) => symbols.get(name) ?? -1));
  return bound && shape && dimsTensor(dtype, shape.length === 0 ? [] : [bound.length], bound);
}

/** Operators that compare positions with a constant, such as a window radius. */
const comparisons = new Set(["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Min", "Max", "Clip"]);

const isLength = ({ constant, users }: Value): boolean =>
  isInteger(constant?.dtype) || [...users].some(({ opType }) => comparisons.has(opType));

/** Operators that scale positions by a constant. */
const scalings = new Set(["Mul", "Div"]);

/** Maximum reciprocal that counts as a length. A larger reciprocal comes from an epsilon that avoids division by 0. */
const MAX_RECIPROCAL = 4096;

/**
 * Returns the length that a scale factor implies: the reciprocal of the factor. For example, position · 0.01 reaches 1
 * at length 100.
 */
function reciprocals({ constant, users }: Value): number[] {
  if (!constant || elementCount(constant.shape) !== 1 || ![...users].some(({ opType }) => scalings.has(opType)))
    return [];
  return numbersOf(constant)
    .map((factor) => Math.abs(1 / factor))
    .filter((length) => length > 1 && length <= MAX_RECIPROCAL);
}

/**
 * Returns the largest constant that may be a length. A probe shows the full effect of this constant only if the probed
 * text has more tokens than this length.
 */
export function largestConstant({ constants }: ValueSources): number {
  const small = [...constants].flatMap((value) => [
    ...(value.constant && isLength(value) && elementCount(value.constant.shape) <= 64 ? numbersOf(value.constant) : []),
    ...reciprocals(value),
  ]);
  const extents = [...constants].flatMap(({ constant }) => constant?.shape ?? []);
  const lengths = [...small.map((number) => Math.ceil(Math.abs(number))), ...extents];
  return Math.max(0, ...lengths.filter((value) => value < 2 ** 31 - 1));
}

/**
 * Converts sizes to an int64, int32 or boolean tensor. Returns undefined for other types, for symbolic sizes, for sizes
 * beyond 2⁵³, and if the number of sizes does not fit the shape.
 */
export function dimsTensor(
  dtype: DataType | undefined,
  shape: readonly number[],
  sizes: readonly Dim[],
): Tensor | undefined {
  const exact = sizes.filter((size): size is number => Number.isSafeInteger(size));
  if (exact.length < sizes.length || exact.length !== elementCount(shape)) return undefined;
  return dtype === "int64" || dtype === "int32" || dtype === "bool"
    ? tensorFromNumbers(dtype, shape, exact)
    : undefined;
}
