import type { Target } from "../../../artifact/manifest.ts";
import type { Model } from "../../../runtime/model.ts";
import { compareNumbers, rank } from "../compare-numbers.ts";
import { FP16_LIMIT, INT8_LIMIT } from "../limits.ts";
import type { Expected } from "./expected-answer.ts";
import { type Asking, type GoldenAnswer, goldenCall } from "./golden-call.ts";
import type { GoldenLine } from "./read-golden.ts";

/** Agreement of a model's answer with the answer in a line of the golden file. */
interface Agreement {
  /**
   * For vectors: the smaller of the cosine and 1 − ½ (n − 1)², where the longer vector is n times as long as the other. For two
   * vectors of length 1, the agreement is the cosine. For scores: 1 minus the largest difference. -1 if the answers cannot be compared.
   */
  readonly agreement: number;
  /** The agreement in words, such as "cosine 0.71340". */
  readonly says: string;
}

/** Agreement of answers that cannot be compared. */
export const INCOMPARABLE = -1;

/** Compares an answer of the user's present system with the model's answer. */
export function agreementOf(expected: Expected, answer: GoldenAnswer): Agreement {
  if (expected.kind === "vectors")
    return "rows" in answer ? ofRows(expected.rows, answer.rows) : incomparable("scores");
  if ("rows" in answer) return incomparable("vectors");
  const { scores } = answer;
  if (expected.kind === "label") return ofLabel(expected.label, scores);
  if (expected.kind === "scores") return ofScores(expected.scores, scores);
  const own = [...scores.values()][0] ?? Number.NaN;
  return ofDifference("score", expected.score, own);
}

const incomparable = (what: string): Agreement => ({ agreement: INCOMPARABLE, says: `the model computes ${what}` });

/** The agreement of several token vectors is the mean over the vectors, as in `parity`. */
function ofRows(theirs: readonly Float32Array[], ours: readonly Float32Array[]): Agreement {
  if (theirs.length !== ours.length) {
    return { agreement: INCOMPARABLE, says: `${theirs.length} vectors in the file, and ${ours.length} here` };
  }
  const rows = theirs.map((row, i) => ofVector(row, ours[i] as Float32Array));
  const mean = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const [alike, length] = [mean(({ cosine }) => cosine), mean(({ length }) => length)];
  const agreement = Math.min(alike, length);
  const says = `cosine ${figure(alike)}`;
  if (alike <= length) return { agreement, says };
  const ratio = mean(({ ratio }) => ratio);
  return { agreement, says: `${says}, but the file's vector is ${figure(ratio)} times as long` };
}

function ofVector(theirs: Float32Array, ours: Float32Array): { cosine: number; length: number; ratio: number } {
  const { cosine } = compareNumbers(theirs, ours);
  const [a, b] = [lengthOf(theirs), lengthOf(ours)];
  if (a === 0 && b === 0) return { cosine, length: 1, ratio: 1 };
  if (a === 0 || b === 0) return { cosine, length: INCOMPARABLE, ratio: a / b };
  return { cosine, length: 1 - (Math.max(a / b, b / a) - 1) ** 2 / 2, ratio: a / b };
}

/** Returns the Euclidean length. A vector can have more numbers than `Math.hypot` takes as arguments. */
const lengthOf = (vector: Float32Array): number => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

function ofScores(theirs: ReadonlyMap<string, number>, ours: ReadonlyMap<string, number>): Agreement {
  const each = [...theirs].map(([label, score]) =>
    ofDifference(`score of ${JSON.stringify(label)}`, score, ours.get(label) ?? Number.NaN),
  );
  return each.reduce((worst, next) => (next.agreement < worst.agreement ? next : worst));
}

/** Returns the agreement of a label: 1 minus the distance of its score from the highest score. */
function ofLabel(label: string, ours: ReadonlyMap<string, number>): Agreement {
  const best = [...ours].reduce((a, b) => (b[1] > a[1] ? b : a));
  const own = ours.get(label) ?? Number.NaN;
  const says = `label ${JSON.stringify(label)} in the file, and ${JSON.stringify(best[0])} here`;
  return { agreement: 1 - (best[1] - own), says: best[0] === label ? `label ${JSON.stringify(label)}` : says };
}

const ofDifference = (what: string, theirs: number, ours: number): Agreement => ({
  agreement: 1 - Math.abs(theirs - ours),
  says: `${what} ${figure(theirs)} in the file, and ${figure(ours)} here`,
});

const figure = (value: number): string => value.toFixed(5);

/** Minimum agreement of each line with the file. */
export interface GoldenLimit {
  readonly vectors: number;
  readonly scores: number;
}

/**
 * Limit of the float32 model. Two libraries that read a folder in the same way differ only in the rounding of float32 sums: cosines
 * stay above 0.99999, and scores differ by at most 1e-4. A wrong reading mostly gives less than 0.999.
 */
export const FLOAT32_GOLDEN: GoldenLimit = { vectors: 0.9999, scores: 0.999 };

/** Minimum agreement of a quantized target's scores. Logits that differ by 0.2 give scores that differ by up to 0.05. */
const QUANTIZED_SCORES = 0.95;

/** Returns the limit of a quantized target: each vector must reach the minimum cosine of the target's accuracy gate. */
export const quantizedGolden = (precision: Target["precision"]): GoldenLimit => ({
  vectors: (precision === "fp16" ? FP16_LIMIT : INT8_LIMIT).minCosine,
  scores: QUANTIZED_SCORES,
});

/** A line with the model's answer. */
export interface ComparedLine extends Agreement {
  readonly line: GoldenLine;
  readonly answer: GoldenAnswer;
}

/** A summary of how a model agrees with a golden file. */
export interface GoldenAgreement {
  /** Path of the golden file. */
  readonly file: string;
  readonly lines: number;
  /** Mean agreement of the lines. Agreement is the cosine of vectors, or 1 minus the largest difference of scores. */
  readonly mean: number;
  readonly worst: { readonly line: number; readonly agreement: number };
}

/** Asks a model for the answers of lines, one after the other. */
export async function compareLines(
  model: Pick<Model, "call">,
  lines: readonly GoldenLine[],
  { asking, progress }: { readonly asking?: Asking | undefined; readonly progress?: (share: number) => void } = {},
): Promise<ComparedLine[]> {
  const compared: ComparedLine[] = [];
  for (const line of lines) {
    progress?.(compared.length / lines.length);
    const answer = await model.call(goldenCall(line, asking));
    compared.push({ line, answer, ...agreementOf(line.expected, answer) });
  }
  progress?.(1);
  return compared;
}

/** Returns the lines below a limit, the worst first. NaN is worse than any number. */
export const belowLimit = (compared: readonly ComparedLine[], limit: GoldenLimit): ComparedLine[] =>
  compared
    .filter(({ line, agreement }) => !(agreement >= limitOf(line.expected, limit)))
    .toSorted((a, b) => rank(a.agreement) - rank(b.agreement));

/** Returns the limit for an answer of this kind. */
export const limitOf = ({ kind }: Expected, limit: GoldenLimit): number =>
  kind === "vectors" ? limit.vectors : limit.scores;

/** @param compared at least one line */
export function summaryOf(file: string, compared: readonly ComparedLine[]): GoldenAgreement {
  const worst = compared.reduce((a, b) => (rank(b.agreement) < rank(a.agreement) ? b : a));
  return {
    file,
    lines: compared.length,
    mean: compared.reduce((sum, { agreement }) => sum + agreement, 0) / compared.length,
    worst: { line: worst.line.line, agreement: worst.agreement },
  };
}

/** Returns the user's minimum as the limit of both vectors and scores, or `otherwise` if the user gives none. */
export const chosenLimit = (minimum: number | undefined, otherwise: GoldenLimit): GoldenLimit =>
  minimum === undefined ? otherwise : { vectors: minimum, scores: minimum };
