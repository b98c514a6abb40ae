import { type Shape, substituteSymbols, symbolsOf } from "../graph/dim.ts";
import type { Node, Value } from "../graph/node.ts";
import { elementCount } from "../graph/tensor.ts";
import { uniformValue } from "../graph/tensor-math.ts";
import { knownNumbers, normalizeAxis } from "../shapes/shape-rule.ts";

/** Maps each element of a value to its flat index in another value. Sample sizes replace symbolic sizes. */
export interface IndexMap {
  readonly shape: readonly number[];
  readonly index: Int32Array;
  /** Factor by which every element was multiplied. */
  readonly scale: number;
}

/**
 * Sample sizes for symbols: different primes, so that axes cannot be confused. The sizes are small, so a slice may cover a
 * whole axis by chance. Callers therefore compare symbols too.
 */
const sizes = [2, 3, 5, 7, 11, 13];

/** Maximum number of elements of a traced value. Long fixed sequences have larger tensors, which would take too much time. */
const MAX_ELEMENTS = 1 << 22;

/** Assigns sample sizes to symbols. A symbol has the same size in all shapes. */
export class SampleSizes {
  readonly #bound = new Map<string, number>();

  of(shape: Shape | undefined): number[] | undefined {
    const bound = shape?.map((dim) => {
      for (const name of symbolsOf(dim)) {
        if (!this.#bound.has(name)) this.#bound.set(name, sizes[this.#bound.size] ?? 17 + this.#bound.size);
      }
      return substituteSymbols(dim, (name) => this.#bound.get(name) as number);
    });
    return bound?.every((dim) => typeof dim === "number" && dim >= 0) ? (bound as number[]) : undefined;
  }
}

/**
 * Maps each element of the value `to` to its source element in the value `from`. The function applies the operators
 * between the two values to indices instead of elements. This recognizes every way in which exporters split heads,
 * transpose keys or select a part of a packed projection.
 *
 * @param limit maximum number of elements of each value on the path
 * @returns undefined if a value exceeds `limit`, or if an operator on the path does more than move elements or multiply
 *   them by a scalar
 */
export function indexMap(to: Value, from: Value, at: SampleSizes, limit = MAX_ELEMENTS): IndexMap | undefined {
  const shape = at.of(to.shape);
  if (!shape || elementCount(shape) > limit) return undefined;
  if (to === from) return { shape, index: Int32Array.from({ length: elementCount(shape) }, (_, i) => i), scale: 1 };
  const node = to.producer;
  if (node?.domain !== "") return undefined;
  const move = movements[node.opType];
  const source = move && movedInput(node);
  const before = source && indexMap(source, from, at, limit);
  return before && move?.(before, shape, node, to);
}

/** Returns the input whose elements a node moves; undefined if its operator does not move elements. */
export function movedInput(node: Node): Value | undefined {
  if (node.domain !== "" || !(node.opType in movements)) return undefined;
  const [a, b] = node.inputs;
  return node.opType === "Mul" && a && uniformValue(a) !== undefined ? b : a;
}

type Movement = (x: IndexMap, shape: readonly number[], node: Node, to: Value) => IndexMap | undefined;

const view: Movement = ({ index, scale }, shape) =>
  index.length === elementCount(shape) ? { shape, index, scale } : undefined;

/**
 * Builds the index map of an operator's output from `x`, the map of its input. `position` returns the input position
 * for each output position.
 */
function take(x: IndexMap, shape: readonly number[], position: (at: readonly number[]) => readonly number[]): IndexMap {
  const index = new Int32Array(elementCount(shape));
  const at = shape.map(() => 0);
  for (let i = 0; i < index.length; i++) {
    const source = position(at);
    index[i] = x.index[source.reduce((flat, coordinate, axis) => flat * (x.shape[axis] ?? 1) + coordinate, 0)] ?? -1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] ?? 0) + 1;
      if (at[axis] !== shape[axis]) break;
      at[axis] = 0;
    }
  }
  return { shape, index, scale: x.scale };
}

const scaled =
  (of: (x: number, constant: number) => number): Movement =>
  (x, shape, node) => {
    const constant = node.inputs.map((input) => input && uniformValue(input)).find((value) => value !== undefined);
    if (constant === undefined || x.index.length !== elementCount(shape)) return undefined;
    return { shape, index: x.index, scale: of(x.scale, constant) };
  };

const movements: Readonly<Record<string, Movement>> = {
  Identity: view,
  Reshape: view,
  Squeeze: view,
  Unsqueeze: view,
  Flatten: view,
  Transpose: (x, shape, node) => {
    const perm = node.ints("perm") ?? shape.map((_, i) => shape.length - 1 - i);
    const inverse = shape.map((_, axis) => perm.indexOf(axis));
    return take(x, shape, (at) => inverse.map((axis) => at[axis] ?? 0));
  },
  Gather: (x, shape, node) => {
    const axis = normalizeAxis(node.int("axis") ?? 0, x.shape.length);
    const [, indices] = node.inputs;
    const chosen = knownNumbers(indices);
    const rank = indices?.shape?.length ?? 2;
    if (!chosen || rank > 1) return undefined;
    const size = x.shape[axis] ?? 0;
    return take(x, shape, (at) => {
      const wanted = chosen[rank === 0 ? 0 : (at[axis] ?? 0)] ?? 0;
      return [...at.slice(0, axis), wanted < 0 ? wanted + size : wanted, ...at.slice(axis + rank)];
    });
  },
  Expand: (x, shape) => {
    const added = shape.length - x.shape.length;
    return take(x, shape, (at) => x.shape.map((size, axis) => (size === 1 ? 0 : (at[axis + added] ?? 0))));
  },
  Slice: (x, shape, node) => {
    const starts = knownNumbers(node.inputs[1]);
    const steps = node.inputs[4] ? knownNumbers(node.inputs[4]) : starts?.map(() => 1);
    const axes = node.inputs[3] ? knownNumbers(node.inputs[3]) : starts?.map((_, i) => i);
    if (!starts || !axes || !steps?.every((step) => step > 0)) return undefined;
    const [offsets, strides] = [x.shape.map(() => 0), x.shape.map(() => 1)];
    starts.forEach((start, i) => {
      const axis = normalizeAxis(axes[i] ?? 0, x.shape.length);
      const size = x.shape[axis] ?? 0;
      offsets[axis] = Math.min(Math.max(start < 0 ? start + size : start, 0), size);
      strides[axis] = steps[i] ?? 1;
    });
    return take(x, shape, (at) =>
      at.map((coordinate, axis) => coordinate * (strides[axis] ?? 1) + (offsets[axis] ?? 0)),
    );
  },
  Split: (x, shape, node, to) => {
    const axis = normalizeAxis(node.int("axis") ?? 0, x.shape.length);
    const part = node.outputs.indexOf(to);
    let offset = 0;
    for (const output of node.outputs.slice(0, part)) {
      const size = output?.shape?.[axis];
      if (typeof size !== "number") return undefined;
      offset += size;
    }
    return take(x, shape, (at) => at.map((coordinate, i) => (i === axis ? coordinate + offset : coordinate)));
  },
  Mul: scaled((x, constant) => x * constant),
  Div: (x, shape, node, to) =>
    node.inputs[0] && uniformValue(node.inputs[0]) !== undefined
      ? undefined
      : scaled((value, constant) => value / constant)(x, shape, node, to),
};

/** Maximum number of movements (operators that move or scale elements) in a chain. Exporters use fewer to arrange heads. */
const MAX_MOVEMENTS = 16;

/** Returns `value` and the values that its elements were moved from, nearest first. */
export function movementSources(value: Value): Value[] {
  const found = [value];
  for (let last = value; found.length <= MAX_MOVEMENTS; found.push(last)) {
    const source = last.producer && movedInput(last.producer);
    if (!source || source.isConstant) break;
    last = source;
  }
  return found;
}
