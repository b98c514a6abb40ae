import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import { linesOf, readData, unexpected } from "./data-file.ts";
import { type Compute, eachTextOnce } from "./each-text-once.ts";

/** Two sentences and a human similarity score. Only the order of the scores matters. */
export interface StsPair {
  readonly score: number;
  readonly first: string;
  readonly second: string;
}

/** Index of the score, and minimum number of columns, in STS-B's files: genre, file, year, id, score, sentence, sentence. */
const STSB_SCORE = 4;
const STSB_COLUMNS = 7;

const HINT =
  "Give STS-B's sts-test.csv, or lines with a score and two sentences, separated by tabs and without quotes.";

/**
 * Reads pairs of sentences. Lines have three columns (score, sentence, sentence), or at least seven as in STS-B's
 * sts-test.csv (http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark). Tabs separate
 * columns; quotes are part of the sentences.
 *
 * @throws BertEdgeError `data_missing`; `data_invalid` with the number of the wrong line
 */
export const readSts = (path: string): Promise<readonly StsPair[]> => readData(path, HINT, parseSts);

/** @throws BertEdgeError `data_invalid` with the number of the wrong line */
export const parseSts = (text: string, source: string): StsPair[] =>
  linesOf(text, source).map((line) => {
    const columns = line.text.split("\t");
    const isStsb = columns.length >= STSB_COLUMNS;
    if (!isStsb && columns.length !== 3) {
      throw unexpected(line, `3 columns, or at least 7, instead of ${columns.length}`, HINT);
    }
    const [score = "", first = "", second = ""] = columns.slice(isStsb ? STSB_SCORE : 0);
    const column = isStsb ? STSB_SCORE + 1 : 1;
    if (!/^-?\d+(\.\d+)?$/.test(score)) throw unexpected(line, `a number (the score) in column ${column}`, HINT);
    if (first === "" || second === "") {
      throw unexpected(line, `sentences in columns ${column + 1} and ${column + 2}`, HINT);
    }
    return { score: Number(score), first, second };
  });

/**
 * Computes Spearman's correlation between the scores of the pairs and the cosines of their vectors, and multiplies it
 * by 100. This is the usual metric of STS-B.
 *
 * @throws BertEdgeError `vector_invalid`
 */
export async function scoreSts(pairs: readonly StsPair[], embed: Compute): Promise<number> {
  const vectorOf = await eachTextOnce(
    pairs.flatMap(({ first, second }) => [first, second]),
    embed,
  );
  const cosines = pairs.map(({ first, second }) => cosine(vectorOf(first), vectorOf(second)));
  const scores = pairs.map(({ score }) => score);
  return 100 * spearman(scores, cosines);
}

/**
 * Computes Spearman's rank correlation: Pearson's correlation of the ranks. Equal values share the mean of their ranks:
 * https://en.wikipedia.org/wiki/Spearman's_rank_correlation_coefficient
 *
 * @returns from −1 to 1; NaN when all values of one list are equal, or any value is NaN
 * @throws RangeError when the lists differ in length
 */
export function spearman(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new RangeError(`Cannot correlate ${a.length} values with ${b.length}.`);
  if ([...a, ...b].some(Number.isNaN)) return Number.NaN;
  return pearson(ranks(a), ranks(b));
}

/** Returns the rank of each value in ascending order, starting at 0. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((i, j) => compare(values[i] as number, values[j] as number));
  const result = new Array<number>(values.length);
  for (let begin = 0, end = 0; begin < order.length; begin = end) {
    const value = values[order[begin] as number];
    while (end < order.length && values[order[end] as number] === value) end++;
    for (const i of order.slice(begin, end)) result[i] = (begin + end - 1) / 2;
  }
  return result;
}

/** Compares without subtraction, because ∞ − ∞ is NaN. */
const compare = (a: number, b: number): number => (a < b ? -1 : Number(a > b));

function pearson(a: readonly number[], b: readonly number[]): number {
  const [deviationsA, deviationsB] = [deviations(a), deviations(b)];
  return dot(deviationsA, deviationsB) / Math.sqrt(dot(deviationsA, deviationsA) * dot(deviationsB, deviationsB));
}

function deviations(values: readonly number[]): number[] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.map((value) => value - mean);
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
