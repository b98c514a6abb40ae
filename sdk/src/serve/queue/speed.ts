import { DEVIATION_GAIN, ewma, MEAN_GAIN } from "../ewma.ts";

/** Relative deviation of a prediction before the first observation, and weight of the assumption of equal machines, in turns. */
const [FIRST_DEVIATION, FIRST_WEIGHT] = [1 / 4, 1 / 4];

/** Minimum weight of a turn that was faster than predicted. Disturbances make turns slower, but never faster. */
const FALL_GAIN = 1 / 4;

/** Predicted time in ms from which a turn counts fully. The same disturbance distorts a shorter turn more. */
const FULL_TURN_MS = 4;

/** Relative uncertainty of a cold engine's extra time, up and down. */
const COLD_ERROR = 1 / 2;

/** Bounds of measured over predicted time: a clock that jumps, or a client that reports wrong times, must not stop all requests. */
const [MIN_FACTOR, MAX_FACTOR] = [1 / 8, 32];

/** Longest gap between turns that is believed, in ms. In a longer gap, the machine was paused, not busy. */
const MAX_GAP_MS = 50;

/** Part of the learned gap that remains after a turn for which nobody waited. */
const GAP_MEMORY = 31 / 32;

/** Turns shorter than this, in ms, tell little about the speed: the clock and the scheduler disturb them too much. */
const MIN_TURN_MS = 0.5;

/**
 * Number of turns in a row without a movement of the clock that show that it stands still during computation. Fewer turns do not
 * show this: a clock that moves in steps of 1 ms, as in a local workerd, does not move during many short turns.
 */
const STANDS = 64;

/** Number of client reports from which the speed is computed, and minimum relative distance of two predictions to compare. */
const [REPORTS, MIN_SPREAD] = [32, 0.2];

/** Longest time of a report that is believed, in ms, and maximum ratio by which `REPORTS` reports change the factor. */
const [MAX_REPORT_MS, MAX_STEP] = [60_000, 1.5];

/**
 * Warm-up of a WebAssembly engine. V8 begins with code that it compiles quickly, and replaces each function by faster code
 * after it has run for some time: https://v8.dev/docs/wasm-compilation-pipeline. Times are in milliseconds of a warm engine.
 * Measured in workerd with `npm run bench -- routing --only first-calls`: a first call takes up to `1 + COLD` times its warm
 * time. This extra time halves with every `HALF_LIFE_MS` of work.
 */
const [COLD, HALF_LIFE_MS] = [2, 12];

/** Extra time of a call, relative to its time on a warm engine, below which the engine counts as warm. */
const WARM = 1 / 16;

/** Predicted milliseconds that a call of the engine should take. Longer calls make others wait; shorter calls lose time between calls. */
export const CALL_MS = 8;

const bounded = (factor: number) => Math.min(Math.max(factor, MIN_FACTOR), MAX_FACTOR);

/** A predicted time in milliseconds, and its mean deviation. */
export interface Estimate {
  readonly ms: number;
  readonly spreadMs: number;
}

/** The predicted time of an answer. */
export interface AnswerEstimate extends Estimate {
  /** Part of `ms` that is spent in queues. */
  readonly waitMs: number;
}

/** The speed of this machine, compared with the machine that measured the model. */
export type Speed = ReturnType<typeof machineSpeed>;

/**
 * Makes a speed that begins with the assumption of equal machines, learns from every turn, and returns to the assumption while
 * there are no turns. The extra time of a cold engine is predicted separately, and does not count as the speed of the machine.
 *
 * @param options.compilesAsItRuns whether the engine takes longer for its first calls
 * @param options.now clock, in ms
 */
export function machineSpeed(options: { readonly compilesAsItRuns: boolean | undefined; readonly now: () => number }) {
  const { compilesAsItRuns, now } = options;
  const factor = ewma({ prior: 1, deviation: FIRST_DEVIATION, weight: FIRST_WEIGHT, fallGain: FALL_GAIN, now });
  /** Extra time of the engine's next call, relative to the call's time on a warm engine. */
  let cold = compilesAsItRuns ? COLD : 0;
  const coldAfter = (ms: number) => cold * 2 ** (-ms / HALF_LIFE_MS);
  /** Returns the extra time, on the engine as it is now, of a call that takes `ms` on a warm engine. */
  const extraOf = (ms: number) => ((cold - coldAfter(ms)) * HALF_LIFE_MS) / Math.LN2;
  let gapMs = 0;
  let gapDeviation = 0;
  /** Number of turns since the clock last moved during a computation. */
  let unticked = STANDS;
  /** Predicted and measured times that clients have reported since the factor last changed. */
  const reports: [predictedMs: number, measuredMs: number][] = [];
  return {
    /**
     * Predicts the time of work, on an engine that is as warm as it is now.
     *
     * @param ms milliseconds on the machine that measured the model, whose engine was warm
     * @param turns number of turns in which the work is done
     */
    predict(ms: number, turns: number): Estimate {
      const extraMs = extraOf(ms);
      return {
        ms: factor.mean * (ms + extraMs) + gapMs * turns,
        spreadMs: factor.deviation * ms + factor.mean * COLD_ERROR * extraMs + gapDeviation * turns,
      };
    },
    /**
     * Learns from a turn.
     *
     * @param ms milliseconds on the machine that measured the model
     * @param tookMs measured milliseconds. A clock that stands still during computation, as on deployed Workers, always gives 0:
     *   such turns are ignored.
     */
    observe(ms: number, tookMs: number): void {
      const extraMs = extraOf(ms);
      cold = coldAfter(ms);
      if (ms < MIN_TURN_MS) return;
      unticked = tookMs > 0 ? 0 : unticked + 1;
      if (unticked > STANDS) factor.confirm();
      if (tookMs < 0 || unticked > STANDS) return;
      const ratio = (error: number) => bounded(tookMs / (ms + (1 + error) * extraMs));
      const weight = Math.min(1, ms / FULL_TURN_MS) * (ms / (ms + extraMs));
      factor.observe({ from: ratio(COLD_ERROR), to: ratio(-COLD_ERROR) }, weight);
    },
    /**
     * Learns from a client, while the clock stands still during computation: only the client's clock sees what an answer
     * took. Its time includes the network, which is about the same for short and long answers.
     *
     * @param predictedMs what this deployment predicted for the answer
     * @param measuredMs what the client measured from sending the request to receiving the answer
     */
    observeReport(predictedMs: number, measuredMs: number): void {
      if (unticked < STANDS || !(Math.max(predictedMs, measuredMs) < MAX_REPORT_MS)) return;
      reports.push([predictedMs, measuredMs]);
      if (reports.length < REPORTS) return;
      // The slope of measured over predicted times is 1 if the predictions are right. The intercept is the time on the network.
      const slope = theilSenSlope(reports, MIN_SPREAD) ?? 1;
      factor.replace(bounded(factor.mean * Math.min(Math.max(slope, 1 / MAX_STEP), MAX_STEP)));
      reports.length = 0;
    },
    /** Learns the time between two turns when the next one is waiting: reading requests and writing answers. */
    observeGap(ms: number): void {
      const error = Math.min(ms, MAX_GAP_MS) - gapMs;
      gapDeviation += DEVIATION_GAIN * (Math.abs(error) - gapDeviation);
      gapMs += MEAN_GAIN * error;
    },
    /** Forgets a part of the learned gap, before a turn for which no request was waiting. */
    forgetGap(): void {
      gapMs *= GAP_MEMORY;
      gapDeviation *= GAP_MEMORY;
    },
    /** Whether the engine is warm: about as fast as it can get. */
    isWarm: () => cold < WARM,
    /** Whether the clock stands still during computation, so that turns tell nothing. */
    isBlind: () => unticked > STANDS,
  };
}

/**
 * Returns the slope of a line through points: the median of the slopes between all pairs. Up to 29 % of the points can be
 * wrong without any effect: H. Theil, "A rank-invariant method of linear and polynomial regression analysis", 1950; P. K.
 * Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau", 1968. Undefined if most points are too close to
 * each other: then the slope would be noise.
 *
 * @param minSpread smallest distance of two points on the x axis, relative to the larger x, for their slope to count
 */
export function theilSenSlope(
  points: readonly (readonly [x: number, y: number])[],
  minSpread: number,
): number | undefined {
  const slopes = points.flatMap(([x, y], i) =>
    points
      .slice(0, i)
      .filter(([other]) => Math.abs(x - other) > minSpread * Math.max(x, other))
      .map(([otherX, otherY]) => (y - otherY) / (x - otherX)),
  );
  if (slopes.length < points.length) return undefined;
  return slopes.sort((a, b) => a - b)[slopes.length >> 1];
}
