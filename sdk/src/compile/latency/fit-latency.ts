import type { LatencyFit } from "../../artifact/measurements.ts";

/** A measurement: the median time of a call with one sequence of `tokens` tokens. */
export interface LatencyPoint {
  readonly tokens: number;
  readonly ms: number;
}

/**
 * Fits `ms ≈ base + perToken · n + perSquare · n²` without negative coefficients. The fit minimizes the squares of the
 * *relative* errors, because short inputs have the tightest budgets and must count as much as long ones.
 *
 * The result is exact: the function solves the fit for every subset of the three terms, and returns the solution
 * without negative coefficients that has the smallest error.
 *
 * @throws RangeError when there is no point, or a time is not positive
 */
export function fitLatency(points: readonly LatencyPoint[]): LatencyFit {
  const rows = points.map(({ tokens, ms }) => [1 / ms, tokens / ms, tokens ** 2 / ms] as const);
  let best: { fit: LatencyFit; error: number } | undefined;
  for (let subset = 1; subset < 8; subset++) {
    const terms = [0, 1, 2].filter((term) => subset & (1 << term));
    if (terms.length > rows.length) continue;
    const solution = leastSquares(rows.map((row) => terms.map((term) => row[term] as number)));
    if (!solution || solution.some((value) => value < 0)) continue;
    const full = [0, 0, 0];
    terms.forEach((term, i) => {
      full[term] = solution[i] as number;
    });
    const error = rows.reduce((sum, row) => sum + (dot(row, full) - 1) ** 2, 0);
    const [base = 0, perToken = 0, perSquare = 0] = full;
    if (!best || error < best.error) best = { fit: { base, perToken, perSquare }, error };
  }
  if (!best) throw new RangeError("fitLatency needs at least one point and only positive times.");
  return best.fit;
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);

/** Solves `rows · x ≈ 1` through the normal equations. Returns undefined when the equations are singular. */
function leastSquares(rows: readonly (readonly number[])[]): number[] | undefined {
  const size = rows[0]?.length ?? 0;
  const column = (j: number) => rows.map((row) => row[j] as number);
  const system = Array.from({ length: size }, (_, i) => [
    ...Array.from({ length: size }, (_, j) => dot(column(i), column(j))),
    column(i).reduce((sum, value) => sum + value, 0),
  ]);
  return solve(system);
}

/**
 * Solves the linear equations of an augmented matrix [n, n + 1] by Gaussian elimination with pivoting. Returns
 * undefined when the equations are singular.
 */
function solve(system: number[][]): number[] | undefined {
  const size = system.length;
  for (let i = 0; i < size; i++) {
    const rest = system.slice(i).sort((a, b) => Math.abs(b[i] as number) - Math.abs(a[i] as number));
    system.splice(i, size - i, ...rest);
    const pivot = system[i] as number[];
    if (!(Math.abs(pivot[i] as number) > Number.EPSILON * Math.abs(system[0]?.[0] ?? 0) * 1e-6)) return undefined;
    system.forEach((row, at) => {
      if (at === i) return;
      const factor = (row[i] as number) / (pivot[i] as number);
      for (let j = i; j <= size; j++) row[j] = (row[j] as number) - factor * (pivot[j] as number);
    });
  }
  return system.map((row, i) => (row[size] as number) / (row[i] as number));
}
