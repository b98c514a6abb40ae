import type { Program, ProgramValue, Step, View } from "../../../sdk/src/runtime/engine/wasm/program.ts";

/** A program that is being drawn. */
export interface Draft {
  readonly values: readonly ProgramValue[];
  readonly steps: readonly Step[];
  /** Which values each step reads or writes. */
  readonly touched: readonly (readonly number[])[];
  oneOf<T>(items: readonly T[]): T;
  /** Values of a kind, of at least so many columns. */
  like(kind: Partial<ProgramValue>, columns?: number): number[];
  shapeOf(index: number): ProgramValue;
  /** @returns the index of a new value */
  make(value: ProgramValue): number;
  /** So many columns of a value. */
  view(value: number, columns: number): View;
  put(step: Step, touched: readonly number[]): void;
}

export function draft(random: () => number): Draft {
  const values: ProgramValue[] = [];
  const steps: Step[] = [];
  const touched: (readonly number[])[] = [];
  const shapeOf = (index: number) => values[index] as Program["values"][number];
  return {
    values,
    steps,
    touched,
    oneOf: <T>(items: readonly T[]) => items[Math.floor(items.length * random())] as T,
    like: ({ type, of }, columns = 0) =>
      [...values.keys()].filter((index) => {
        const value = shapeOf(index);
        return (type ?? value.type) === value.type && (of ?? value.of) === value.of && value.width >= columns;
      }),
    shapeOf,
    make: (value) => values.push(value) - 1,
    view: (value, columns) => ({
      value,
      column: 4 * Math.floor(((shapeOf(value).width - columns) / 4 + 1) * random()),
    }),
    put(step, indices) {
      steps.push(step);
      touched.push(indices);
    },
  };
}
