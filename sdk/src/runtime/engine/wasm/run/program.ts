/**
 * What the engine computes, as the artifact's model file carries it: a list of steps over values. A value is a matrix with a
 * row a token, or a sequence; tensors are named as in the file.
 */
export interface Program {
  /** Version of steps and layouts; an engine runs its own alone. */
  readonly version: number;
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
  /** The value that is the result. */
  readonly output: number;
  /** The longest sequence that positions reach to. */
  readonly maxTokens: number;
  readonly vocabulary: number;
}

/** Raised whenever kernels could misread what an earlier version packed. */
export const PROGRAM_VERSION = 3;

export interface ProgramValue {
  readonly width: number;
  readonly of: "token" | "sequence";
  /** `i8` rows have a scale and zero point each. */
  readonly type: "f32" | "i8";
}

/** Columns of a value from `column` on. */
export interface View {
  readonly value: number;
  readonly column: number;
}

/** A linear map's tensors: weight u7 [out/8, in/4, 8, 4]; one number for each output, in whole tiles. */
interface LinearTensors {
  readonly weight: string;
  /** f32 */
  readonly scale: string;
  /** i32 */
  readonly zero: string;
  /** i32, Σ weight of each output. */
  readonly sum: string;
  /** f32 */
  readonly bias: string;
}

/** Size of the greatest head that attention has room for: the kernels' own constant. */
export const GREATEST_HEAD = 256;

/** Outputs in a tile of weights, likewise. */
export const TILE_OUTPUTS = 8;

export type Activation = "gelu" | "fastGelu" | "relu" | "tanh" | "sigmoid" | "sigmoidUnit";

export type Step =
  /** Rows of a table of 8 or 4 bits, by token id; `block` numbers share a step. */
  | {
      readonly op: "lookup";
      readonly table: string;
      readonly steps: string;
      readonly bits: 8 | 4;
      readonly block: number;
      readonly out: number;
    }
  /** Rows as bytes, multiplied by one row of factors before where there is one. */
  | { readonly op: "quantize"; readonly x: number; readonly factors?: string; readonly out: number }
  | ({ readonly op: "linear"; readonly x: number; readonly out: number } & LinearTensors)
  /** LayerNorm(x + skip); skip is a value, or a table with a row a position. `total` is x + skip, where it is read. */
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
  | { readonly op: "add"; readonly x: number; readonly y: Addend; readonly out: number }
  /** x · y, element by element; y may be one row for all. */
  | { readonly op: "gate"; readonly x: View; readonly y: View | { readonly row: string }; readonly out: number }
  | {
      readonly op: "activation";
      readonly kind: Activation;
      readonly alpha?: number;
      readonly x: View;
      readonly out: number;
    }
  /** Heads of x turned by the angles of their positions, in place: cosines and sines f32 [positions, size/2]. */
  | {
      readonly op: "rotate";
      readonly x: View;
      readonly width: number;
      readonly size: number;
      readonly cosines: string;
      readonly sines: string;
    }
  /**
   * Queries, keys and values are columns of one value, or of values of one width.
   *
   * `bias` f32 [heads or 1, 2 · maxTokens − 1] is added to the scores of key j for query i at j − i + maxTokens − 1.
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
      readonly out: number;
    }
  /** The first token's row of every sequence. */
  | { readonly op: "cls"; readonly x: number; readonly out: number }
  /** x · wᵀ + bias in float32, w f32 [out, in]. */
  | { readonly op: "dense"; readonly x: number; readonly weight: string; readonly bias: string; readonly out: number };

/** A value, or a tensor: one row for all, or a row a position. */
export type Addend = Skip | { readonly row: string };

/** Another value, or a row for each position. */
export type Skip = { readonly value: number } | Positions;

/** With `padding`, tokens with that id are not counted, and all have the first row; positions begin with the second. */
export interface Positions {
  readonly positions: string;
  readonly padding?: number;
}
