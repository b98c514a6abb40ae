/**
 * The program of a model file: a list of steps over values. A value is a matrix with one row per token, or one row per
 * sequence. Steps refer to tensors by their names in the file. parseProgram turns a Program into a CheckedProgram, which
 * the engine runs.
 */
export interface Program {
  /** Version of the steps and of the tensors' layouts. An engine only runs programs of its own version. */
  readonly version: number;
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
  /** Index of the value that is the result. */
  readonly output: number;
  /** Maximum number of tokens in a sequence. A position table has this many rows, or one more if it has `padding`. */
  readonly maxTokens: number;
  /** Vocabulary size. All token ids are smaller than this number. */
  readonly vocabulary: number;
  /** Whether sequences can be pairs of texts. Missing if the model takes single texts only. */
  readonly pairs?: boolean;
}

/** Increase this number with every change that makes the engine misread model files of the previous version. */
export const PROGRAM_VERSION = 3;

export interface ProgramValue {
  readonly width: number;
  readonly of: "token" | "sequence";
  /** Type of the numbers. Each row of an `i8` value has a scale and a zero point. */
  readonly type: "f32" | "i8";
}

/** Columns of a value, from `column` on. The step determines the number of columns. */
export interface View {
  readonly value: number;
  readonly column: number;
}

export const ACTIVATIONS = ["gelu", "fastGelu", "relu", "tanh", "sigmoid", "swish"] as const;
export type ActivationKind = (typeof ACTIVATIONS)[number];

export type Step =
  /** Looks up rows of an 8-bit or 4-bit token embedding table. Each group of `block` numbers has one scale. */
  | {
      readonly op: "lookup";
      readonly table: string;
      readonly scales: string;
      readonly bits: 8 | 4;
      readonly block: number;
      readonly out: number;
    }
  /**
   * Quantizes rows to signed bytes, with a scale and a zero point per row. `factors` f32 [width] multiplies each row first.
   */
  | { readonly op: "quantize"; readonly x: number; readonly factors?: string; readonly out: number }
  /**
   * Runs a linear layer in integers. Its weight matrix is u7 [out/8, in/4, 8, 4]. The other tensors have one number per
   * output, filled up to a multiple of 8: scales f32, zeroPoints i32, sums i32 (the sum of each output's weights), bias f32.
   */
  | {
      readonly op: "linearInt8";
      readonly x: number;
      readonly weight: string;
      readonly scales: string;
      readonly zeroPoints: string;
      readonly sums: string;
      readonly bias: string;
      readonly out: number;
    }
  /** Runs a linear layer in float32: x · wᵀ + bias, with w f32 [out, in]. */
  | {
      readonly op: "linearF32";
      readonly x: number;
      readonly weight: string;
      readonly bias: string;
      readonly out: number;
    }
  /** Computes LayerNorm(x + skip). `total` is a value that receives x + skip, if a later step reads this sum. */
  | {
      readonly op: "layerNorm";
      readonly x: number;
      readonly skip?: Skip;
      readonly gamma: string;
      readonly beta?: string;
      readonly epsilon: number;
      readonly total?: number;
      readonly out: number;
    }
  /** Computes RMSNorm(x + skip). `total` is the same as in a `layerNorm`. */
  | {
      readonly op: "rmsNorm";
      readonly x: number;
      readonly skip?: Skip;
      readonly gamma: string;
      readonly epsilon: number;
      readonly total?: number;
      readonly out: number;
    }
  | { readonly op: "add"; readonly x: number; readonly y: Skip | { readonly row: string }; readonly out: number }
  /**
   * Multiplies x · y, element by element, as in a gated feed-forward block. `row` is the name of a tensor with one row.
   * Every row of x is multiplied by this row.
   */
  | { readonly op: "multiply"; readonly x: View; readonly y: View | { readonly row: string }; readonly out: number }
  /** Applies an activation. Only swish uses `alpha`: x · sigmoid(alpha · x). */
  | {
      readonly op: "activation";
      readonly kind: ActivationKind;
      readonly alpha?: number;
      readonly x: View;
      readonly out: number;
    }
  /** Rotates the heads of x by the angles of their positions, in place. Cosines and sines are f32 [maxTokens, size/2]. */
  | {
      readonly op: "rotate";
      readonly x: View;
      readonly width: number;
      readonly size: number;
      readonly cosines: string;
      readonly sines: string;
    }
  /**
   * Runs attention. Queries, keys and values are columns of one value, or of values of the same width.
   *
   * `bias` is f32 [heads or 1, 2 · maxTokens − 1]. Entry j − i + maxTokens − 1 is added to the score of key j for query i.
   * A step has `bias`, `positions` or neither.
   */
  | {
      readonly op: "attention";
      readonly query: View;
      readonly key: View;
      readonly value: View;
      readonly heads: number;
      readonly size: number;
      readonly scale: number;
      readonly bias?: { readonly table: string; readonly heads: number };
      readonly positions?: PositionTerms;
      readonly out: number;
    }
  /** Copies the first token's row of every sequence. */
  | { readonly op: "cls"; readonly x: number; readonly out: number }
  /** Averages the rows of all tokens of every sequence. */
  | { readonly op: "mean"; readonly x: number; readonly out: number };

/**
 * Terms of attention scores that depend on relative positions, as in DeBERTa: (query · position key + key · position query).
 * Each pair of tokens has a bucket, and each bucket has a position key and a position query for each head.
 */
export interface PositionTerms {
  /** i32 [2 · maxTokens − 1]. Entry j − i + maxTokens − 1 is the bucket of key j for query i. */
  readonly bucketOf: string;
  /** Number of buckets, a multiple of 8. */
  readonly buckets: number;
  readonly keys?: PositionWeights;
  readonly queries?: PositionWeights;
  /** f32 [buckets]: zeros. */
  readonly zeros: string;
}

/**
 * Position keys or position queries, as the weights of a linear layer for each head: u7 [heads · buckets/8, size/4, 8, 4]. The
 * other tensors have one number per head and bucket, like those of `linearInt8`.
 */
export interface PositionWeights {
  readonly weight: string;
  readonly scales: string;
  readonly zeroPoints: string;
  readonly sums: string;
}

/** The second operand of a sum: another value, or a position table. */
export type Skip = { readonly value: number } | PositionTable;

/**
 * A position table, with one row per position. `padding` is a token id. If it is set, tokens with this id get row 0.
 * Only the other tokens are then counted as positions, and get the rows from 1 on.
 */
export interface PositionTable {
  readonly positions: string;
  /** The same table for tokens with token type 1. Missing if the token type does not matter. */
  readonly second?: string;
  readonly padding?: number;
}
