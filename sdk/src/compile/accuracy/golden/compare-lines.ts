import type { Target } from "../../../artifact/manifest.ts";
import type { Model } from "../../../runtime/model.ts";
import { FP16_LIMIT, INT8_LIMIT } from "../limits.ts";
import { type Agreement, agreementOf } from "./agreement.ts";
import type { Expected } from "./expected-answer.ts";
import { type Asking, type GoldenAnswer, goldenCall } from "./golden-call.ts";
import type { GoldenLine } from "./golden-line.ts";

/** Minimum agreement of each line with the file. */
export interface GoldenLimit {
  readonly vectors: number;
  readonly scores: number;
}

/**
 * Limit of the float32 model. Two libraries that read a folder alike differ by float32 sums: cosines stay above 0.99999, and
 * scores within 1e-4. A wrong reading is mostly below 0.999.
 */
export const FLOAT32_GOLDEN: GoldenLimit = { vectors: 0.9999, scores: 0.999 };

/** Minimum agreement of a quantized target's scores. Logits that differ by 0.2 give scores that differ by up to 0.05. */
const QUANTIZED_SCORES = 0.95;

/** Returns the limit of a quantized target: each vector must reach what the target's own gate asks for. */
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
    .toSorted((a, b) => rank(a) - rank(b));

/** The limit for an answer of this kind. */
export const limitOf = ({ kind }: Expected, limit: GoldenLimit): number =>
  kind === "vectors" ? limit.vectors : limit.scores;

/** @param compared at least one line */
export function summaryOf(file: string, compared: readonly ComparedLine[]): GoldenAgreement {
  const worst = compared.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  return {
    file,
    lines: compared.length,
    mean: compared.reduce((sum, { agreement }) => sum + agreement, 0) / compared.length,
    worst: { line: worst.line.line, agreement: worst.agreement },
  };
}

/** Returns the limit that an option sets for vectors and scores, or the limit without it. */
export const chosenLimit = (minimum: number | undefined, otherwise: GoldenLimit): GoldenLimit =>
  minimum === undefined ? otherwise : { vectors: minimum, scores: minimum };

const rank = ({ agreement }: Agreement): number => (Number.isNaN(agreement) ? Number.NEGATIVE_INFINITY : agreement);
