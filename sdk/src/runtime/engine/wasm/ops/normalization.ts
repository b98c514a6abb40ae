import { type Block, tensorAt } from "../run/block.ts";
import { fieldsOf, finiteNumber, type OperandReader, ProgramFault, sizeOf } from "./operand-reader.ts";
import type { Operation, Sizes, Unchecked } from "./operation.ts";
import { type Skip, skipOf } from "./skip.ts";

interface NormalizationStep {
  readonly x: number;
  readonly skip?: Skip;
  readonly gamma: string;
  readonly epsilon: number;
  /** Value that receives x + skip, if a later step reads this sum. */
  readonly total?: number;
  readonly out: number;
}

/** Computes LayerNorm(x + skip). */
export interface LayerNormStep extends NormalizationStep {
  readonly op: "layerNorm";
  readonly beta?: string;
}

/** Computes RMSNorm(x + skip). */
export interface RmsNormStep extends NormalizationStep {
  readonly op: "rmsNorm";
}

export const layerNorm: Operation<LayerNormStep> = (step, read, sizes) => {
  const { width, gamma, epsilon, eachRows } = normalization(step, read, sizes);
  const beta = tensorAt(read.optionalFloats(step.beta, "beta", width));
  return {
    run: (block) =>
      eachRows(block, (x, y, rows, total, out) =>
        block.kernels.layerNormF32(x, y, gamma, beta, rows, width, epsilon, total, out),
      ),
  };
};

export const rmsNorm: Operation<RmsNormStep> = (step, read, sizes) => {
  const { width, gamma, epsilon, eachRows } = normalization(step, read, sizes);
  return {
    run: (block) =>
      eachRows(block, (x, y, rows, total, out) =>
        block.kernels.rmsNormF32(x, y, gamma, rows, width, epsilon, total, out),
      ),
  };
};

/** Normalizes `rows` rows. All other parameters are pointers; `y` is 0 without a skip. */
type Normalize = (x: number, y: number, rows: number, total: number, out: number) => void;

/** Checks the operands that all normalizations have. */
function normalization(step: Unchecked<NormalizationStep>, read: OperandReader, sizes: Sizes) {
  const x = read.whole(step.x, "x");
  const width = sizeOf(x.width, "width of x", 4);
  const eachSkip = step.skip === undefined ? undefined : skipOf(fieldsOf(step.skip, "skip"), read, width, sizes);
  if (step.total !== undefined && !eachSkip) throw new ProgramFault("it has a total, but no skip");
  const gamma = tensorAt(read.floats(step.gamma, "gamma", width));
  const epsilon = epsilonOf(step.epsilon);
  const total = step.total === undefined ? undefined : read.out(step.total, "total", width);
  const out = read.out(step.out, "out", width);
  function eachRows(block: Block, normalize: Normalize): void {
    const rowsAt = (offset: number, rows: number, y: number) =>
      normalize(block.at(x, offset), y, rows, block.at(total ?? out, offset), block.at(out, offset));
    if (eachSkip) eachSkip(block, rowsAt);
    else rowsAt(0, block.count, 0);
  }
  return { width, gamma, epsilon, eachRows };
}

/** Checks the number that is added to a variance. With a negative number, the square root could be NaN. Models use 1e-12 to 1e-3. */
function epsilonOf(value: unknown): number {
  const epsilon = finiteNumber(value, "epsilon");
  if (epsilon >= 0 && epsilon <= 1) return epsilon;
  throw new ProgramFault(`epsilon is ${epsilon}, which is not between 0 and 1`);
}
