import { LEVEL_BLOCK, tableLevels } from "../../../runtime/engine/wasm/constants/table-levels.ts";
import { levelRowBytes } from "../../../runtime/engine/wasm/ops/lookup.ts";
import { int } from "../../graph/node.ts";
import { EDGE } from "../../graph/operators.ts";
import { reading, type Tensor, tensor, toFloat32 } from "../../graph/tensor.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { MIN_SCALE } from "../scales.ts";

/** A table of the edge engine in 4 bits: number ≈ level[code] · multiplier · scale. */
interface LevelTable {
  /** u8 [rows, width/2 + width/32], as assembly/lookup.ts describes it. */
  readonly rows: Tensor;
  /** float32 [rows] */
  readonly scales: Tensor;
}

const MAX_MULTIPLIER = 15;
const levels = Float64Array.from(tableLevels);
const MAX_LEVEL = tableLevels.at(-1) as number;
/** Twice the half-way points between neighbouring levels: whole numbers. */
const bounds = tableLevels.slice(1).map((level, i) => level + (tableLevels[i] as number));
/** Index of the nearest level for twice a magnitude, rounded up. Larger magnitudes have the last level. */
const nearest = Uint8Array.from(
  { length: 2 * MAX_LEVEL + 1 },
  (_, twice) => bounds.filter((bound) => twice > bound).length,
);
/** Multipliers to try, as shares of the one that reaches a block's peak. A smaller one clips the peak, and is often better. */
const [SMALLEST_SHARE, LARGEST_SHARE] = [0.7, 1.15];

/** The width of a table must be a multiple of this number: a byte holds the multipliers of two blocks. */
const TWO_BLOCKS = 2 * LEVEL_BLOCK;

/** Looks up rows of a table in 4 bits. Returns undefined for tables whose width is not a multiple of 32. */
export const levelLookup: QuantizationScheme["embeddingLookup"] = (graph, name, table, ids) => {
  const width = table.constant.shape[1] ?? 0;
  if (width % TWO_BLOCKS !== 0) return undefined;
  const { rows, scales } = reading(table.constant, quantizeLevels);
  return graph.add(
    "LookupLevels",
    [graph.constant(`${table.name}.levels`, rows), ids, graph.constant(`${table.name}.scales`, scales)],
    { name, domain: EDGE, attributes: { width: int(width) } },
  ).output;
};

/** @param source float32 [rows, width] */
export function quantizeLevels(source: Tensor): LevelTable {
  const [count = 0, width = 0] = source.shape;
  const numbers = toFloat32(source);
  const rowBytes = levelRowBytes(width);
  const rows = new Uint8Array(count * rowBytes);
  const scales = new Float32Array(count);
  const codes = new Uint8Array(width);
  for (let index = 0; index < count; index++) {
    const row = numbers.subarray(index * width, (index + 1) * width);
    const scale = Math.fround(Math.max(peakOf(row) / (MAX_LEVEL * MAX_MULTIPLIER), MIN_SCALE));
    scales[index] = scale;
    const stored = rows.subarray(index * rowBytes, (index + 1) * rowBytes);
    for (let block = 0; block < width / LEVEL_BLOCK; block++) {
      const from = block * LEVEL_BLOCK;
      const part = row.subarray(from, from + LEVEL_BLOCK);
      const multiplier = bestMultiplier(part, scale);
      const at = width / 2 + (block >> 1);
      stored[at] = (stored[at] as number) | (multiplier << (block % 2 === 0 ? 0 : 4));
      for (let i = 0; i < LEVEL_BLOCK; i++) codes[i] = codeOf((part[i] as number) / (multiplier * scale));
      for (let i = 0; i < LEVEL_BLOCK / 2; i++) {
        stored[from / 2 + i] = (codes[i] as number) | ((codes[i + LEVEL_BLOCK / 2] as number) << 4);
      }
    }
  }
  return {
    rows: tensor("uint8", [count, rowBytes], rows),
    scales: tensor("float32", [count], scales),
  };
}

function peakOf(numbers: Float32Array): number {
  let peak = 0;
  for (let i = 0; i < numbers.length; i++) peak = Math.max(peak, Math.abs(numbers[i] as number));
  return peak;
}

/** Returns the multiplier with the smallest squared error. */
function bestMultiplier(block: Float32Array, scale: number): number {
  const reaching = peakOf(block) / (MAX_LEVEL * scale);
  const last = Math.min(Math.max(Math.ceil(reaching * LARGEST_SHARE), 1), MAX_MULTIPLIER);
  let [best, minError] = [last, Number.POSITIVE_INFINITY];
  for (let multiplier = Math.max(Math.floor(reaching * SMALLEST_SHARE), 1); multiplier <= last; multiplier++) {
    let error = 0;
    for (let i = 0; i < block.length && error < minError; i++) {
      const number = (block[i] as number) / (multiplier * scale);
      const level = levels[stepOf(number)] as number;
      error += ((Math.abs(number) - level) * multiplier) ** 2;
    }
    if (error < minError) [best, minError] = [multiplier, error];
  }
  return best;
}

/** Returns the index of the level that is nearest to a number's magnitude. */
const stepOf = (number: number): number =>
  nearest[Math.min(Math.ceil(2 * Math.abs(number)), nearest.length - 1)] as number;

function codeOf(number: number): number {
  const step = stepOf(number);
  return number < 0 ? tableLevels.length - 1 - step : tableLevels.length + step;
}
