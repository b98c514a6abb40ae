/** Smallest number that a measured time or rate can be: above zero. */
const POSITIVE = Number.MIN_VALUE;

/** Plausible range of each unit: minimum and maximum. A number outside is a mistake of the benchmark, or of what it measures. */
const ranges = {
  ms: [POSITIVE, 60_000],
  s: [POSITIVE, 600],
  "times as fast": [0.001, 1_000],
  "of its time": [0.001, 1_000],
  share: [0, 1],
  percent: [0, 100],
  /** A difference of two shares in percent. */
  points: [-100, 100],
  /** A cosine, or a correlation. */
  correlation: [-1, 1],
  /** A cosine with vectors of float32. Quantized vectors are near them; sums of float32 exceed 1 by rounding. */
  agreement: [0.9, 1.000_01],
  count: [1, 1e9],
  /** Results that are not those of the reference. */
  differences: [0, 0],
  KB: [POSITIVE, 1e8],
  /** Memory of a process, an isolate or an engine. */
  MB: [0.1, 16_000],
  /** Rest of a limit. */
  "MB to spare": [-16_000, 16_000],
  /** Memory that one object has in use. Garbage collection can free more than the object takes. */
  "MB in use": [-100, 1_000],
  "per second": [POSITIVE, 1e9],
  "billions per second": [POSITIVE, 10_000],
} as const satisfies Readonly<Record<string, readonly [number, number]>>;

export type Unit = keyof typeof ranges;

/** A measured number of a row. */
export interface Figure {
  readonly row: string;
  readonly name: string;
  readonly unit: Unit;
  readonly value: number;
}

/** Returns the figures of a row. Figures that were not measured are left out. */
export const figuresOf = (
  row: string,
  measured: Readonly<Record<string, readonly [value: number | undefined, unit: Unit]>>,
): Figure[] =>
  Object.entries(measured).flatMap(([name, [value, unit]]) =>
    value === undefined ? [] : [{ row, name, unit, value }],
  );

/** Returns a sentence on each figure that is not a number, or outside of its unit's range. */
export const implausible = (figures: readonly Figure[]): string[] =>
  figures.flatMap(({ row, name, unit, value }) => {
    const [min, max] = ranges[unit];
    return value >= min && value <= max
      ? []
      : [`${row}: ${name} is ${value}, which is not plausible in ${unit} (${min} to ${max}).`];
  });
