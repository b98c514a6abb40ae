/** A matrix of a program, with one row per token, or one row per sequence. */
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
