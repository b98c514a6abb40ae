import { BertEdgeError } from "../../artifact/error.ts";
import type { Moments } from "../quantize/weights/moments.ts";

/** Of a channel's mean square: less is what rounding leaves of a constant. */
const ROUNDING = 1e-6;

/**
 * A model that answers every text alike passes every comparison with itself.
 *
 * @param results vectors or logits of different texts
 * @param calibration in the order of the graph, to find where texts stop to differ
 * @throws BertEdgeError `model_constant`
 */
export function assertVaries(results: readonly Float32Array[], calibration: ReadonlyMap<string, Moments>): void {
  const [first, ...others] = results;
  if (others.some((result) => result.some((value, i) => differs(value, first?.[i] as number)))) return;
  const constant = [...calibration].find(([, moments]) => !varies(moments));
  const where = constant ? `: what ${constant[0]} multiplies is the same for all tokens` : "";
  throw new BertEdgeError("model_constant", `The model computes the same for every text${where}.`, {
    hint: "The checkpoint is broken at or before that layer: take an earlier one.",
  });
}

const differs = (a: number, b: number): boolean => Math.abs(a - b) > ROUNDING * Math.max(Math.abs(a), Math.abs(b));

const varies = ({ width, tokens, sum, products }: Moments): boolean =>
  Array.from(sum).some((total, i) => {
    const meanSquare = (products[i * width + i] as number) / tokens;
    return meanSquare - (total / tokens) ** 2 > ROUNDING * meanSquare;
  });
