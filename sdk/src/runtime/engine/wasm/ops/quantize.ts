import { tensorAt } from "../run/block.ts";
import { sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/** Quantizes rows to signed bytes, with a scale and a zero point per row. `factors` f32 [width] multiplies each row first. */
export interface QuantizeStep {
  readonly op: "quantize";
  readonly x: number;
  readonly factors?: string;
  readonly out: number;
}

export const quantizeRows: Operation<QuantizeStep> = (step, read) => {
  const x = read.whole(step.x, "x");
  const width = sizeOf(x.width, "width of x", 4);
  const factors = read.optionalFloats(step.factors, "factors", width);
  const out = read.out(step.out, "out", width, "i8");
  return {
    run: (block) =>
      block.kernels.quantizeRowsInt8(
        block.at(x),
        tensorAt(factors),
        block.count,
        width,
        block.at(out),
        block.parameters(out),
      ),
  };
};
