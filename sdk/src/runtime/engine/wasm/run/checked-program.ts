import type { StoredNumbers, TokenTable } from "../ops/operand-reader.ts";
import type { CheckedOperation } from "../ops/operation.ts";
import type { ProgramValue } from "./values.ts";

export interface CheckedStep extends CheckedOperation {
  /** Indices of the values that the step reads (`reads`) and writes (`writes`). */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

/** A program that kernels can run without reading or writing memory outside of their operands. */
export interface CheckedProgram {
  readonly values: readonly ProgramValue[];
  readonly steps: readonly CheckedStep[];
  readonly output: number;
  readonly maxTokens: number;
  readonly vocabulary: number;
  /** Whether sequences can be pairs of texts. */
  readonly pairs: boolean;
  /**
   * End of the last tensor that every text needs, as an offset from the address MODEL. Token embedding tables are not included.
   */
  readonly tensorsEnd: number;
  /** Offset of the model file from the address MODEL. Expanded weights come before it. */
  readonly fileBegins: number;
  /** Token embedding tables. A text only needs the rows of its token ids. */
  readonly tables: readonly TokenTable[];
  /** The tensors of float32 numbers, each once. */
  readonly numbers: readonly StoredNumbers[];
}
