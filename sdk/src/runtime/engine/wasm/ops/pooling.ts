import { sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/** Copies the first token's row of every sequence. */
export interface ClsStep {
  readonly op: "cls";
  readonly x: number;
  readonly out: number;
}

/** Averages the rows of all tokens of every sequence. */
export interface MeanStep {
  readonly op: "mean";
  readonly x: number;
  readonly out: number;
}

export const cls: Operation<ClsStep> = (step, read) => {
  const x = read.whole(step.x, "x");
  const out = read.outOfSequences(step.out, "out", x.width);
  return {
    run(block) {
      const bytes = new Uint8Array(block.memory.buffer);
      for (const [i, start] of block.batch.starts.slice(0, -1).entries()) {
        bytes.copyWithin(block.at(out, i), block.at(x, start), block.at(x, start + 1));
      }
    },
  };
};

export const mean: Operation<MeanStep> = (step, read) => {
  const x = read.whole(step.x, "x");
  const out = read.outOfSequences(step.out, "out", sizeOf(x.width, "width of x", 4));
  return {
    run(block) {
      const { starts } = block.batch;
      for (const [i, end] of starts.slice(1).entries()) {
        const start = starts[i] as number;
        block.kernels.poolMeanF32(block.at(x, start), end - start, block.stride(x), block.at(out, i));
      }
    },
  };
};
