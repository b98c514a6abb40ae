/**
 * How a WebAssembly engine becomes fast. V8 begins with code that it compiles at once, and replaces each function by faster code
 * after it has run for some time: https://v8.dev/docs/wasm-compilation-pipeline. Times are in milliseconds of an engine that is
 * warm. Measured in workerd with `npm run bench -- routing --only first-calls`: at first, a call takes up to `1 + COLD` times its
 * time. What it takes longer halves with every `HALF_LIFE_MS` of work.
 */
const [COLD, HALF_LIFE_MS] = [2, 12];

/** Extra time of a call, relative to its own, below which the engine counts as warm. */
const WARM = 1 / 16;

/** How far an engine is on its way to its full speed. */
export interface Warming {
  /** Returns the time that a call of `ms` takes longer now than on a warm engine. */
  extraMs(ms: number): number;
  /** Records that the engine has done work of `ms`. */
  ran(ms: number): void;
  isWarm(): boolean;
}

/** @param isCold whether the engine begins in code that is slow */
export function warming(isCold: boolean): Warming {
  /** Extra time of the next call, relative to its own. */
  let cold = isCold ? COLD : 0;
  const coldAfter = (ms: number) => cold * 2 ** (-ms / HALF_LIFE_MS);
  return {
    extraMs: (ms) => ((cold - coldAfter(ms)) * HALF_LIFE_MS) / Math.LN2,
    ran(ms) {
      cold = coldAfter(ms);
    },
    isWarm: () => cold < WARM,
  };
}
