import type { ActivationKind, ProgramValue } from "./program.ts";

/** `width` columns of a value, from `column` on. parseProgram has checked that the value has these columns. */
export interface ColumnView {
  readonly value: number;
  readonly column: number;
  readonly width: number;
}

/** Offset of a tensor in the model file. parseProgram has checked that the file has all bytes that the step reads. */
export type TensorOffset = number;

/**
 * A position table, with one row per position. `padding` is a token id. If it is set, tokens with this id get row 0.
 * Only the other tokens are then counted as positions, and get the rows from 1 on.
 */
export interface PositionRows {
  readonly positions: TensorOffset;
  /** The same table for tokens with token type 1; undefined if the token type does not matter. */
  readonly second: TensorOffset | undefined;
  readonly padding: number | undefined;
}

/** The second operand of a sum: rows of another value, or of a position table. */
export type CheckedSkip = { readonly view: ColumnView } | PositionRows;

export interface CheckedPositionTerms {
  readonly bucketOf: TensorOffset;
  readonly buckets: number;
  readonly keys: CheckedPositionWeights | undefined;
  readonly queries: CheckedPositionWeights | undefined;
  readonly zeros: TensorOffset;
}

export interface CheckedPositionWeights {
  readonly weight: TensorOffset;
  readonly scales: TensorOffset;
  readonly zeroPoints: TensorOffset;
  readonly sums: TensorOffset;
}

interface Normalization {
  readonly x: ColumnView;
  readonly skip: CheckedSkip | undefined;
  readonly gamma: TensorOffset;
  readonly epsilon: number;
  readonly total: ColumnView | undefined;
  readonly out: ColumnView;
}

/** A `Step` whose operands are checked. Optional operands that the step does not have are `undefined`. */
export type Operation =
  | {
      readonly op: "lookup";
      readonly table: TensorOffset;
      readonly scales: TensorOffset;
      readonly bits: 8 | 4;
      readonly block: number;
      readonly out: ColumnView;
    }
  | {
      readonly op: "quantize";
      readonly x: ColumnView;
      readonly factors: TensorOffset | undefined;
      readonly out: ColumnView;
    }
  | {
      readonly op: "linearInt8";
      readonly x: ColumnView;
      readonly weight: TensorOffset;
      readonly scales: TensorOffset;
      readonly zeroPoints: TensorOffset;
      readonly sums: TensorOffset;
      readonly bias: TensorOffset;
      readonly out: ColumnView;
    }
  | {
      readonly op: "linearF32";
      readonly x: ColumnView;
      readonly weight: TensorOffset;
      readonly bias: TensorOffset;
      readonly out: ColumnView;
    }
  | (Normalization & { readonly op: "layerNorm"; readonly beta: TensorOffset | undefined })
  | (Normalization & { readonly op: "rmsNorm" })
  | {
      readonly op: "add";
      readonly x: ColumnView;
      readonly y: CheckedSkip | { readonly row: TensorOffset };
      readonly out: ColumnView;
    }
  | {
      readonly op: "multiply";
      readonly x: ColumnView;
      readonly y: { readonly view: ColumnView } | { readonly row: TensorOffset };
      readonly out: ColumnView;
    }
  | {
      readonly op: "activation";
      readonly kind: ActivationKind;
      readonly alpha: number;
      readonly x: ColumnView;
      readonly out: ColumnView;
    }
  | {
      readonly op: "rotate";
      readonly x: ColumnView;
      readonly size: number;
      readonly cosines: TensorOffset;
      readonly sines: TensorOffset;
    }
  | {
      readonly op: "attention";
      readonly query: ColumnView;
      readonly key: ColumnView;
      readonly value: ColumnView;
      readonly heads: number;
      readonly size: number;
      readonly scale: number;
      readonly bias: { readonly table: TensorOffset; readonly heads: number } | undefined;
      readonly positions: CheckedPositionTerms | undefined;
      readonly out: ColumnView;
    }
  | { readonly op: "cls" | "mean"; readonly x: ColumnView; readonly out: ColumnView };

export type CheckedStep = Operation & {
  /** Indices of the values that the step reads (`reads`) and writes (`writes`). */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
};

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
   * End of the last tensor that every text needs, as an offset in the model file. Token embedding tables are not included.
   */
  readonly tensorsEnd: number;
  /** Token embedding tables. A text only needs the rows of its token ids. */
  readonly tables: readonly TokenTable[];
  /** The tensors of float32 numbers, each once. */
  readonly numbers: readonly StoredNumbers[];
}

/** A tensor of float32 numbers in the model file. `mayMask`: whether −∞ is one of its values, besides finite numbers. */
export interface StoredNumbers {
  readonly name: string;
  readonly offset: TensorOffset;
  readonly count: number;
  readonly mayMask: boolean;
}

export interface TokenTable {
  readonly offset: TensorOffset;
  readonly rowBytes: number;
}
