import { type Choice, choosePrecision, type Measures } from "../accuracy/choose-precision.ts";
import type { Limit } from "../accuracy/limits.ts";
import type { Quantized } from "./quantize.ts";
import type { Stage } from "./stage.ts";

export interface MeasureInput<Label extends string> {
  /** The subject of error messages, such as "edge on wasm". */
  readonly what: string;
  readonly quantized: Quantized<Label>;
  readonly limit: Limit;
  readonly measures: Measures;
}

/**
 * Returns the stage that measures one candidate after the other and chooses the first candidate that reaches the limit.
 *
 * @throws BertEdgeError (when the stage runs) `accuracy_gate` if no candidate reaches the limit
 */
export const measure = <Label extends string>(): Stage<MeasureInput<Label>, Choice<Label>> => ({
  name: "measure",
  describe: ({ what, quantized: { candidates } }) => `quantize ${what}, ${candidates[0]?.label}`,
  run: ({ what, quantized, limit, measures }, context) =>
    choosePrecision(what, quantized.candidates, limit, measures, context),
  report: ({ label, kept, measured: { parity, task } }) => ({
    chosen: label,
    kept,
    meanCosine: parity.meanCosine,
    minCosine: parity.minCosine,
    ...(task && { [task.metric]: task.score, fp32: task.fp32 }),
  }),
});
