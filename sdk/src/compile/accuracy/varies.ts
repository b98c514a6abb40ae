import { BertEdgeError } from "../../artifact/error.ts";
import type { ActivationStatistics } from "../quantize/calibration/activation-statistics.ts";

/** Of a vector's largest number: texts of other lengths make 2e-6 of it in a model whose tokens are all alike. */
const ROUNDING = 1e-5;

/** Of a channel's mean square, which is summed in float32 over all tokens: constant ones measure up to 2e-4. */
const SUMMED_ROUNDING = 1e-3;

/**
 * A model that answers every text alike passes every comparison with itself.
 *
 * @param results vectors or logits of different texts
 * @param calibration in the order of the graph, to find where texts stop to differ
 * @throws BertEdgeError `model_constant`; `vector_invalid` for NaN and infinite numbers, which differ from everything
 */
export function assertVaries(
  results: readonly Float32Array[],
  calibration: ReadonlyMap<string, ActivationStatistics>,
): void {
  const last = [...calibration.keys()].at(-1);
  if (!results.every((result) => result.every(Number.isFinite))) {
    const where = last === undefined ? "" : ` after ${last}`;
    throw new BertEdgeError(
      "vector_invalid",
      `The model computes NaN or infinite numbers in float32 already${where}.`,
      {
        hint: "Check the checkpoint for very large weights.",
      },
    );
  }
  const [first = new Float32Array(), ...others] = results;
  if (others.some((result) => differs(result, first))) return;
  const constant = [...calibration].find(([, moments]) => !varies(moments));
  const where = constant
    ? `: what ${constant[0]} multiplies is the same for all tokens`
    : last && `: what ${last} multiplies still differs, what follows does not`;
  throw new BertEdgeError("model_constant", `The model computes the same for every text${where ?? ""}.`, {
    hint: "The checkpoint is broken at or before that layer: take an earlier one.",
  });
}

function differs(a: Float32Array, b: Float32Array): boolean {
  const largest = a.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return a.some((value, i) => Math.abs(value - (b[i] as number)) > ROUNDING * largest);
}

const varies = ({ width, tokens, sum, gram: products }: ActivationStatistics): boolean =>
  Array.from(sum).some((total, i) => {
    const meanSquare = (products[i * width + i] as number) / tokens;
    return meanSquare - (total / tokens) ** 2 > SUMMED_ROUNDING * meanSquare;
  });
