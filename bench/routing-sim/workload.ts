import { randomNumbers } from "#test/fixtures/seeded.ts";
import { type Choose, chooser } from "./chooser.ts";
import type { Request } from "./request.ts";

/** Budgets in milliseconds, in equal shares. */
export const budgets = [10, 25, 50, 100, 250] as const;

/** Log-normal lengths in tokens: median 18, 95th percentile 260. */
const MEDIAN_TOKENS = 18;
const SIGMA = Math.log(260 / MEDIAN_TOKENS) / 1.6449;
const [MIN_TOKENS, MAX_TOKENS] = [3, 512];

/** Computation times vary log-normally around the prediction. Some take twice as long: garbage collection, neighbours. */
const NOISE = 0.1;
const SLOW_SHARE = 0.01;
const SLOW_FACTOR = 2;

/** A round trip takes longer than the shortest one by this factor on average, exponentially distributed. */
const JITTER = 0.05;

/** An interval in which more requests arrive. */
interface Crowd {
  readonly from: number;
  readonly to: number;
  readonly factor: number;
  readonly points: ReadonlySet<number>;
}

interface WorkloadOptions {
  seed: number;
  /** Requests per second of each point. */
  rates: readonly number[];
  crowd?: Crowd | undefined;
}

/** Draws requests, in the order of their arrival. The same seed gives the same requests to every policy. */
export function workload({ seed, rates, crowd }: WorkloadOptions): () => Request {
  const random = randomNumbers(seed);
  const usual = arrivals(rates);
  const crowded = crowd && arrivals(rates.map((rate, point) => (crowd.points.has(point) ? crowd.factor * rate : rate)));
  let at = 0;
  let spare: number | undefined;

  /** Box and Muller's method draws two normal numbers at a time. */
  function normal(): number {
    if (spare !== undefined) {
      const number = spare;
      spare = undefined;
      return number;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
  const noise = () => Math.exp(NOISE * normal()) * (random() < SLOW_SHARE ? SLOW_FACTOR : 1);

  return () => {
    const { perMs, choose } = crowded && at >= crowd.from && at < crowd.to ? crowded : usual;
    at -= Math.log(1 - random()) / perMs;
    const budgetIndex = Math.floor(budgets.length * random());
    const tokens = Math.round(MEDIAN_TOKENS * Math.exp(SIGMA * normal()));
    return {
      at,
      point: choose(random),
      budgetIndex,
      budgetMs: budgets[budgetIndex] as number,
      tokens: Math.min(Math.max(tokens, MIN_TOKENS), MAX_TOKENS),
      edgeNoise: noise(),
      regionNoise: noise(),
      jitter: 1 - JITTER * Math.log(1 - random()),
      outcome: undefined,
    };
  };
}

const arrivals = (rates: readonly number[]): { perMs: number; choose: Choose } => ({
  perMs: rates.reduce((sum, rate) => sum + rate, 0) / 1_000,
  choose: chooser(rates),
});
