import type { Parity, Task } from "../../artifact/manifest.ts";
import { outputWidth } from "../../artifact/output-width.ts";
import { compareNumbers } from "./compare-numbers.ts";
import { largest, topLabel } from "./tasks/classification.ts";

/**
 * Compares vectors or logits with the original ones, text by text. The cosine of a text with several rows is the mean over
 * its rows: a text has hundreds of tokens, and the worst of thousands of rows says little about the others.
 *
 * Vectors are compared by their cosine. The cosine of one or two logits shows only their signs, so logits are compared
 * by 1 − ½ (distance / spread)², which approximates a cosine for small distances. The spread is the standard deviation
 * of the original logits over the rows. If any number is NaN, the mean and the minimum cosine are NaN.
 *
 * @param reference original result of each text
 */
export function parity(
  reference: readonly Float32Array[],
  results: readonly Float32Array[],
  compared: Compared = { are: "vectors" },
): Parity {
  const { are, width, choosesRows = false } = compared;
  const texts = reference.map((expected, i) => pairsOf(expected, results[i] ?? new Float32Array(), width));
  const pairs = texts.flat();
  const numbers = new Map(pairs.map((pair) => [pair, compareNumbers(pair.expected, pair.found)]));
  const spread = are === "logits" ? spreadOf(pairs.map(({ expected }) => expected)) : Number.NaN;
  const cosineOf = (pair: Pair) =>
    are === "vectors"
      ? (numbers.get(pair)?.cosine ?? Number.NaN)
      : 1 - (distance(pair.expected, pair.found) / spread) ** 2 / 2;
  const cosines = texts.map((rows) => meanOf(rows.map(cosineOf)));
  const choices = choosesRows
    ? reference.flatMap((expected, i) => columnsOf(expected, results[i] ?? new Float32Array(), width ?? 1))
    : pairs;
  return {
    meanCosine: meanOf(cosines),
    minCosine: cosines.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY),
    maxAbsDiff: numbers.values().reduce((max, { maxAbs }) => Math.max(max, maxAbs), 0),
    cases: reference.length,
    ...(are === "logits" && {
      top1: choices.filter((pair) => sameLabel(pair.expected, pair.found, spread)).length / choices.length,
    }),
  };
}

/** A row of the original result, and of the result to compare. */
interface Pair {
  readonly expected: Float32Array;
  readonly found: Float32Array;
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Logits that differ by less than this share of the spread count as equal, because rounding would decide which of them
 * is the largest.
 */
const TIE = 0.05;

function sameLabel(expected: Float32Array, found: Float32Array, spread: number): boolean {
  const chosen = expected[topLabel(found)] ?? Number.NaN;
  return largest(expected) - chosen <= TIE * spread;
}

function pairsOf(expected: Float32Array, found: Float32Array, width: number | undefined): Pair[] {
  const rows = rowsOf(found, width);
  return rowsOf(expected, width).map((row, i) => ({ expected: row, found: rows[i] ?? new Float32Array() }));
}

/** Splits a result into rows; without a width, it is one row. */
const rowsOf = (result: Float32Array, width = result.length): Float32Array[] =>
  Array.from({ length: result.length / width || 1 }, (_, row) => result.subarray(row * width, (row + 1) * width));

/** Pairs the columns of two results. */
const columnsOf = (expected: Float32Array, found: Float32Array, width: number): Pair[] =>
  Array.from({ length: width }, (_, column) => {
    const columnOf = (result: Float32Array) => result.filter((_, i) => i % width === column);
    return { expected: columnOf(expected), found: columnOf(found) };
  });

/** Returns the root of the mean squared distance between the rows and their mean. */
function spreadOf(rows: readonly Float32Array[]): number {
  const mean = new Float64Array(rows[0]?.length ?? 0);
  for (const row of rows)
    row.forEach((value, i) => {
      mean[i] = (mean[i] as number) + value / rows.length;
    });
  return Math.sqrt(rows.reduce((sum, row) => sum + distance(row, mean) ** 2, 0) / rows.length);
}

function distance(a: Float32Array, b: Float32Array | Float64Array): number {
  const squares = a.reduce((sum, value, i) => sum + (value - (b[i] as number)) ** 2, 0);
  return Math.sqrt(squares);
}

/** Options that say how `parity` compares the results of a task. */
interface Compared {
  /** Vectors are compared by their directions, logits by their differences. */
  readonly are: "vectors" | "logits";
  /** Width of the rows of a result. Each row is compared on its own. undefined: the whole result is one row. */
  readonly width?: number | undefined;
  /**
   * Whether the largest logit of each column is compared, instead of the largest logit of each row. Question answering
   * chooses a token for the start and one for the end.
   */
  readonly choosesRows?: boolean;
}

/** @param vocabulary number of tokens in the model's vocabulary */
export function comparedAs(task: Task, vocabulary: number): Compared {
  const are = /^(embed|sparse|token-vectors)$/.test(task.task) ? "vectors" : "logits";
  const isOneRow = /^(embed|sparse|classify)$/.test(task.task);
  return {
    are,
    width: isOneRow ? undefined : outputWidth(task, vocabulary),
    choosesRows: task.task === "answer",
  };
}
