import { tensorAt } from "../run/block.ts";
import type { View } from "../run/values.ts";
import { fieldsOf, finiteNumber, ProgramFault, sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";
import { type Skip, skipOf } from "./skip.ts";

/** Adds another value, rows of a position table, or one row to all rows. */
export interface AddStep {
  readonly op: "add";
  readonly x: number;
  readonly y: Skip | { readonly row: string };
  readonly out: number;
}

/**
 * Multiplies x · y, element by element, as in a gated feed-forward block. `row` is the name of a tensor with one row.
 * Every row of x is multiplied by this row.
 */
export interface MultiplyStep {
  readonly op: "multiply";
  readonly x: View;
  readonly y: View | { readonly row: string };
  readonly out: number;
}

export const ACTIVATIONS = ["gelu", "fastGelu", "relu", "tanh", "sigmoid", "swish"] as const;
export type ActivationKind = (typeof ACTIVATIONS)[number];

/** Applies an activation. Only swish uses `alpha`: x · sigmoid(alpha · x). */
export interface ActivationStep {
  readonly op: "activation";
  readonly kind: ActivationKind;
  readonly alpha?: number;
  readonly x: View;
  readonly out: number;
}

export const add: Operation<AddStep> = (step, read, sizes) => {
  const x = read.whole(step.x, "x");
  const width = sizeOf(x.width, "width of x", 4);
  const y = fieldsOf(step.y, "y");
  const row = read.optionalFloats(y["row"], "y.row", width);
  const eachSkip = row === undefined ? skipOf(y, read, width, sizes) : undefined;
  const out = read.out(step.out, "out", width);
  return {
    run(block) {
      const addRows = (offset: number, rows: number, pointer: number, bytes: number) =>
        block.kernels.addRowsF32(block.at(x, offset), pointer, bytes, rows, width, block.at(out, offset));
      if (eachSkip) eachSkip(block, (offset, rows, pointer) => addRows(offset, rows, pointer, 4 * width));
      else addRows(0, block.count, tensorAt(row), 0);
    },
  };
};

export const multiply: Operation<MultiplyStep> = (step, read) => {
  const width = read.widthOf(step.out, "out", 4);
  const x = read.columns(step.x, "x", width);
  const row = read.optionalFloats(fieldsOf(step.y, "y")["row"], "y.row", width);
  const y = row === undefined ? read.columns(step.y, "y", width) : undefined;
  const out = read.out(step.out, "out", width);
  return {
    run(block) {
      const [pointer, stride] = y ? [block.at(y), block.stride(y)] : [tensorAt(row), 0];
      block.kernels.multiplyF32(block.at(x), block.stride(x), pointer, stride, block.count, width, block.at(out));
    },
  };
};

export const activation: Operation<ActivationStep> = (step, read) => {
  const kind = ACTIVATIONS.find((known) => known === step.kind);
  if (!kind) throw new ProgramFault("its activation is unknown");
  const width = read.widthOf(step.out, "out", 4);
  const alpha = finiteNumber(step.alpha ?? 0, "alpha");
  const x = read.columns(step.x, "x", width);
  const out = read.out(step.out, "out", width);
  return {
    run: (block) => block.kernels[`${kind}F32`](block.at(x), block.stride(x), block.count, width, block.at(out), alpha),
  };
};
