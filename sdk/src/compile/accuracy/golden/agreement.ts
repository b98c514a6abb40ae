import { cosine } from "../../../runtime/tasks/sentence-vector.ts";
import type { Expected } from "./expected-answer.ts";
import type { GoldenAnswer } from "./golden-call.ts";

/** How far a model's answer agrees with that of a line. */
export interface Agreement {
  /**
   * Vectors: the smaller one of the cosine and of 1 − ½ (n − 1)², where one vector is n times as long as the other. For vectors
   * of the length 1 that is the cosine. Scores: 1 minus the largest difference. -1 if the answers cannot be compared.
   */
  readonly agreement: number;
  /** The agreement in words, such as "cosine 0.71340". */
  readonly says: string;
}

/** Agreement of answers that cannot be compared. */
export const INCOMPARABLE = -1;

/** Compares an answer of the present system with the model's. */
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
  const [a, b] = [lengthOf(theirs), lengthOf(ours)];
  if (a === 0 && b === 0) return { cosine: 1, length: 1, ratio: 1 };
  if (a === 0 || b === 0) return { cosine: 0, length: INCOMPARABLE, ratio: a / b };
  return { cosine: cosine(theirs, ours), length: 1 - (Math.max(a / b, b / a) - 1) ** 2 / 2, ratio: a / b };
}

/** Vectors can have more numbers than `Math.hypot` takes. */
const lengthOf = (vector: Float32Array): number => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));

function ofScores(theirs: ReadonlyMap<string, number>, ours: ReadonlyMap<string, number>): Agreement {
  const each = [...theirs].map(([label, score]) =>
    ofDifference(`score of ${JSON.stringify(label)}`, score, ours.get(label) ?? Number.NaN),
  );
  return each.reduce((worst, next) => (next.agreement < worst.agreement ? next : worst));
}

/** A label agrees as far as its own score is from the highest score. */
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
