import { BertEdgeError } from "../../artifact/error.ts";
import { type ActivationStatistics, sumsOfSquares } from "../quantize/calibration/activation-statistics.ts";

/**
 * Largest difference that rounding can cause, as a share of a vector's largest number. Measured: 2e-6 between two
 * texts of different lengths, with a model that computes the same vector for every token.
 */
const ROUNDING = 1e-5;

/**
 * A channel counts as constant if its variance, divided by its mean square, is at most this. Because float32 sums are
 * rounded, constant channels have ratios of up to 2e-4.
 */
const SUMMED_ROUNDING = 1e-3;

/** Activation statistics of the input of each weight matrix. `weights` names the matrices in the order of the graph. */
interface OrderedStatistics {
  readonly weights: readonly string[];
  readonly get: (weight: string) => ActivationStatistics | undefined;
}

/**
 * Refuses a model that computes the same result for every text, because comparing its outputs would show nothing.
 *
 * @param results vectors or logits of different texts
 * @param statistics used to find the first layer whose input is the same for all tokens
 * @throws BertEdgeError `model_constant`; `vector_invalid` for NaN and infinite numbers
 */
export function assertVaries(
  results: readonly Float32Array[],
  { weights, get }: OrderedStatistics = { weights: [], get: () => undefined },
): void {
  const last = weights.at(-1);
  if (!allFinite(results)) {
    const where = last === undefined ? "" : ` after ${last}`;
    throw new BertEdgeError("vector_invalid", `The float32 model computes NaN or infinite numbers${where}.`, {
      hint: "Check the checkpoint for very large weights, or use an earlier checkpoint.",
    });
  }
  if (differ(results)) return;
  const constant = weights.find((weight) => {
    const statistics = get(weight);
    return statistics && !varies(statistics);
  });
  const where = constant
    ? `: the input of ${constant} is the same for all tokens`
    : last && `: the input of ${last} differs between texts, but the model's result does not`;
  throw new BertEdgeError("model_constant", `The model computes the same result for every text${where ?? ""}.`, {
    hint: "The training failed, or the file is damaged. Use an earlier checkpoint, or download the file again.",
  });
}

/** Whether results are finite and not all the same, up to rounding. */
export function differ(results: readonly Float32Array[]): boolean {
  const [first = new Float32Array(), ...others] = results;
  return allFinite(results) && others.some((result) => differs(result, first));
}

const allFinite = (results: readonly Float32Array[]) => results.every((result) => result.every(Number.isFinite));

function differs(a: Float32Array, b: Float32Array): boolean {
  const largest = a.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return a.some((value, i) => Math.abs(value - (b[i] as number)) > ROUNDING * largest);
}

function varies(statistics: ActivationStatistics): boolean {
  const { tokens, sum } = statistics;
  return sumsOfSquares(statistics).some((total, i) => {
    const meanSquare = total / tokens;
    return meanSquare - ((sum[i] as number) / tokens) ** 2 > SUMMED_ROUNDING * meanSquare;
  });
}
