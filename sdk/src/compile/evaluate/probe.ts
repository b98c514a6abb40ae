import { type Shape, substituteSymbols, symbolsOf } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { elementCount, isInteger, numbersOf, type Tensor } from "../graph/tensor.ts";
import { dimsTensor } from "./dims-tensor.ts";
import { runSubgraph } from "./run-subgraph.ts";

/** What a value depends on, sizes apart. */
export interface ValueSources {
  /** Inputs of the graph. */
  readonly inputs: ReadonlySet<Value>;
  /** Values that are computed from sizes alone, where the search for sources ended. */
  readonly sizes: ReadonlySet<Value>;
  readonly constants: ReadonlySet<Value>;
  /** What is computed from them, the value itself included. */
  readonly computed: ReadonlySet<Value>;
}

/** Searching through a whole model for the sources of one value is not worth it: what is probed is small. */
const MAX_NODES = 512;

/** Elements of the largest tensor of a probe. Sizes are chosen small, but a file may fix any of them. */
export const MAX_PROBED_ELEMENTS = 1 << 26;

/** @returns undefined when there is more to the value than can be probed */
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
 * What a value is for inputs of certain sizes. Values that are computed from sizes are given as numbers, so that nothing
 * of the model behind a `Shape` has to run.
 *
 * @param symbols the number that each symbol stands for
 * @returns undefined when it cannot be computed from what is given
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

/** Sizes that nothing is known of count as 1. */
const elementsAt = (shape: Shape | undefined, symbols: ReadonlyMap<string, number>): number =>
  elementCount((shape ?? []).map((dim) => Number(substituteSymbols(dim, (name) => symbols.get(name) ?? 1))));

/** Symbols in the sizes that a value is computed from. */
export const symbolsIn = ({ sizes }: ValueSources): Set<string> =>
  new Set([...sizes].flatMap((value) => (value.content ?? []).flatMap(symbolsOf)));

function sizesAt({ content, shape, dtype }: Value, symbols: ReadonlyMap<string, number>): Tensor | undefined {
  const bound = content?.map((dim) => substituteSymbols(dim, (name) => symbols.get(name) ?? -1));
  return bound && shape && dimsTensor(dtype, shape.length === 0 ? [] : [bound.length], bound);
}

/** Operators by which a constant decides how far something reaches, in whatever type positions are. */
const comparisons = new Set(["Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal", "Min", "Max", "Clip"]);

const isLength = ({ constant, users }: Value): boolean =>
  isInteger(constant?.dtype) || [...users].some(({ opType }) => comparisons.has(opType));

/** Operators by which a constant makes lengths of other numbers. */
const scalings = new Set(["Mul", "Div"]);

/** Reciprocals beyond this are not lengths, but keep divisors from being 0. */
const MAX_RECIPROCAL = 4096;

/** What a factor makes of one: positions times 0.01 reach 1 at 100. */
function reciprocals({ constant, users }: Value): number[] {
  if (!constant || elementCount(constant.shape) !== 1 || ![...users].some(({ opType }) => scalings.has(opType)))
    return [];
  return numbersOf(constant)
    .map((factor) => Math.abs(1 / factor))
    .filter((length) => length > 1 && length <= MAX_RECIPROCAL);
}

/** The largest number among small constants that can be a length: what a probe's sizes must exceed to see every effect. */
export function largestConstant({ constants }: ValueSources): number {
  const small = [...constants].flatMap((value) => [
    ...(value.constant && isLength(value) && elementCount(value.constant.shape) <= 64 ? numbersOf(value.constant) : []),
    ...reciprocals(value),
  ]);
  const extents = [...constants].flatMap(({ constant }) => constant?.shape ?? []);
  const lengths = [...small.map((number) => Math.ceil(Math.abs(number))), ...extents];
  return Math.max(0, ...lengths.filter((value) => value < 2 ** 31 - 1));
}
