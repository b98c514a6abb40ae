import { dimProduct, sameDim } from "../graph/dim.ts";
import type { Value } from "../graph/node.ts";
import { elementCount } from "../graph/tensor.ts";
import { indexMap, movedInput, movementSources, SampleSizes } from "./index-map.ts";

/** Describes how attention heads were split from the columns of a tensor [batch, sequence, width]. */
export interface HeadLayout {
  readonly source: Value;
  /** Columns in `source`: element d of head h is in column `columns[h · size + d]`. */
  readonly columns: readonly number[];
  readonly count: number;
  /** Elements per head. */
  readonly size: number;
  /** Factor by which the elements were multiplied. */
  readonly scale: number;
}

/**
 * Finds the tensor [batch, sequence, width] that the heads of `value` were split from, and how its columns became
 * heads. `value` is [batch, heads, sequence, size]; batch and heads may share an axis.
 *
 * If several tensors before `value` fit, the first one in the graph is used. A later tensor may fit only by chance:
 * when batch and heads share an axis, the tensor looks like a larger batch with a single head.
 *
 * @param transposed whether the last two axes of `value` are swapped
 */
export function splitHeads(value: Value, transposed: boolean): HeadLayout | undefined {
  const rank = value.shape?.length ?? 0;
  const size = value.shape?.at(transposed ? -2 : -1);
  if ((rank !== 3 && rank !== 4) || typeof size !== "number" || size === 0) return undefined;
  for (const source of movementSources(value).reverse()) {
    const width = source.shape?.at(-1);
    if (source.shape?.length !== 3 || typeof width !== "number") continue;
    // The sequence axes must have the same symbol. The index map alone does not show a difference: with a short sample
    // length, a slice of the first tokens may cover the whole text.
    if (!sameDim(value.shape?.at(transposed ? -1 : -2), source.shape[1])) continue;
    const sizes = new SampleSizes();
    const from = sizes.of(source.shape);
    const map = indexMap(value, source, sizes);
    if (!map || !from) continue;
    const [batch = 0, sequence = 0] = from;
    const count = elementCount(map.shape) / (batch * sequence * size);
    if (!Number.isInteger(count) || map.shape.at(transposed ? -1 : -2) !== sequence) continue;
    const at = (b: number, h: number, s: number, d: number) => {
      const row = b * count + h;
      return map.index[transposed ? (row * size + d) * sequence + s : (row * sequence + s) * size + d] ?? -1;
    };
    if (!sameDim(dimProduct(value.shape ?? []), dimProduct([...source.shape.slice(0, 2), count * size]))) continue;
    const columns = Array.from({ length: count * size }, (_, i) => at(0, Math.floor(i / size), 0, i % size));
    if (columns.some((column) => column < 0 || column >= width)) continue;
    if (
      everyHead(
        batch,
        count,
        sequence,
        size,
        (b, h, s, d) => at(b, h, s, d) === (b * sequence + s) * width + (columns[h * size + d] ?? 0),
      )
    ) {
      return { source, columns, count, size, scale: map.scale };
    }
  }
  return undefined;
}

/**
 * Finds the value that merges heads [batch, heads, sequence, size] into [batch, sequence, heads · size].
 *
 * @param count number of heads. The shape of `context` does not show this number if batch and heads share an axis.
 */
export function mergedHeads(context: Value, count: number): Value | undefined {
  const size = context.shape?.at(-1);
  if (typeof size !== "number") return undefined;
  const next = [context];
  for (let value = next.shift(); value; value = next.shift()) {
    if (value !== context && value.shape?.at(-1) === count * size && isMerged(context, value, count, size))
      return value;
    for (const user of value.users) if (movedInput(user) === value) next.push(user.output);
  }
  // With a single head, `context` itself may have the merged shape already.
  return count === 1 && isMerged(context, context, count, size) ? context : undefined;
}

function isMerged(context: Value, merged: Value, count: number, size: number): boolean {
  if (!sameDim(dimProduct(merged.shape ?? []), dimProduct(context.shape ?? []))) return false;
  if (merged.shape?.length === 3 && !sameDim(merged.shape[1], context.shape?.at(-2))) return false;
  const sizes = new SampleSizes();
  const from = sizes.of(context.shape);
  const map = indexMap(merged, context, sizes);
  const sequence = from?.at(-2) ?? 0;
  if (!map || !from || map.scale !== 1) return false;
  const batch = elementCount(from) / (count * sequence * size);
  if (!Number.isInteger(batch) || (map.shape.length === 3 && map.shape[0] !== batch)) return false;
  return everyHead(batch, count, sequence, size, (b, h, s, d) => {
    const flat = ((b * sequence + s) * count + h) * size + d;
    return map.index[flat] === ((b * count + h) * sequence + s) * size + d;
  });
}

function everyHead(
  batch: number,
  count: number,
  sequence: number,
  size: number,
  holds: (b: number, h: number, s: number, d: number) => boolean,
): boolean {
  for (let b = 0; b < batch; b++) {
    for (let h = 0; h < count; h++) {
      for (let s = 0; s < sequence; s++) {
        for (let d = 0; d < size; d++) if (!holds(b, h, s, d)) return false;
      }
    }
  }
  return true;
}
