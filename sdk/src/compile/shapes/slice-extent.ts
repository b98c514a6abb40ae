import { addDims, type Dim, isNonNegative, minDim, subDims } from "../graph/dim.ts";

/** Minimum slice end that counts as "to the end". Exporters write 2⁶³ − 1, 2³¹ − 1 or 10⁹. */
const END = 1 << 20;

/**
 * Returns the number of elements of a slice along one axis; undefined if unknown. If `size` is a number but `end` is
 * not, assumes that `end` is at most `size`. Models slice a position table in this way, and fail anyway for texts with
 * more tokens than the table has rows.
 */
export function sliceExtent(size: Dim, start: Dim, end: Dim, step: Dim): Dim | undefined {
  if (typeof step !== "number" || step === 0) return undefined;
  // A backward slice "to the end" is empty by the specification, but onnxruntime returns all elements.
  if (step < 0 && typeof end === "number" && end >= END) return undefined;
  if (typeof size === "number" && typeof start === "number" && typeof end === "number") {
    return sliceIndices(size, start, end, step).count;
  }
  if (step !== 1) return undefined;
  const from = typeof start === "number" && start <= -END ? 0 : fromStart(start, size);
  if (typeof end !== "number") {
    const to = fromStart(end, size);
    return subDims(to !== end || typeof size === "number" ? to : minDim(size, to), from);
  }
  return subDims(end >= END ? size : end < 0 ? addDims(size, end) : end === 1 ? 1 : minDim(size, end), from);
}

/** Converts an index that counts from the end to an index from the start. Negative numbers and negative formulas count from the end. */
const fromStart = (index: Dim, size: Dim): Dim =>
  index !== 0 && isNonNegative(subDims(0, index)) ? addDims(size, index) : index;

function sliceIndices(size: number, start: number, end: number, step: number): { from: number; count: number } {
  const clamp = (value: number, low: number, high: number) =>
    Math.min(Math.max(value < 0 ? value + size : value, low), high);
  if (step > 0) {
    const [from, to] = [clamp(start, 0, size), clamp(end, 0, size)];
    return { from, count: Math.max(0, Math.ceil((to - from) / step)) };
  }
  const [from, to] = [clamp(start, 0, size - 1), clamp(end, -1, size - 1)];
  return { from, count: Math.max(0, Math.ceil((to - from) / step)) };
}

/** Returns the elements of a sliced vector; undefined if the bounds are unknown. */
export function sliceContent(content: readonly Dim[], start: Dim, end: Dim, step: Dim): readonly Dim[] | undefined {
  if (typeof start !== "number" || typeof end !== "number" || typeof step !== "number") return undefined;
  const { from, count } = sliceIndices(content.length, start, end, step);
  return Array.from({ length: count }, (_, i) => content[from + i * step] as Dim);
}
