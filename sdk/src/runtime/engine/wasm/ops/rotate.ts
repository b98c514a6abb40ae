import { tensorAt } from "../run/block.ts";
import type { View } from "../run/values.ts";
import { sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/** Rotates the heads of x by the angles of their positions, in place. Cosines and sines are f32 [maxTokens, size/2]. */
export interface RotateStep {
  readonly op: "rotate";
  readonly x: View;
  readonly width: number;
  readonly size: number;
  readonly cosines: string;
  readonly sines: string;
}

export const rotate: Operation<RotateStep> = (step, read, { maxTokens }) => {
  read.rows("token");
  const size = sizeOf(step.size, "its head size", 8);
  const x = read.columns(step.x, "x", sizeOf(step.width, "width", size));
  read.inPlace(x);
  const angles = maxTokens * (size / 2);
  const cosines = tensorAt(read.floats(step.cosines, "cosines", angles));
  const sines = tensorAt(read.floats(step.sines, "sines", angles));
  return {
    run: (block) =>
      block.eachSequence((offset, rows, position) => {
        const first = 4 * position * (size / 2);
        block.kernels.rotateF32(
          block.at(x, offset),
          block.stride(x),
          rows,
          x.width,
          size,
          cosines + first,
          sines + first,
        );
      }),
  };
};
