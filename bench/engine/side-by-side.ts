import { median } from "../run-tool.ts";

const BUDGET_MS = 30_000;

/** Efforts of a measurement. */
const EFFORTS = {
  usual: {
    /** Within this range, as many rounds run as fit into BUDGET_MS. */
    rounds: { min: 5, max: 21 },
    /** Duration of the warm-up, in which V8 compiles the code with its optimizing compiler. */
    warmUpMs: 1_000,
    /** Minimum time of a sample, so that the clock is precise enough. */
    sampleMs: 30,
  },
  short: { rounds: { min: 1, max: 1 }, warmUpMs: 20, sampleMs: 5 },
};

/** A rival is not timed in the rounds if it takes at least 1.5 times as long as the fastest rival. */
const MAX_SLOWDOWN = 1.5;

/** One of the implementations that are compared. */
export interface Contender {
  readonly name: string;
  run(): Promise<unknown>;
}

/** Milliseconds per run, one number per round. */
export type Samples = readonly number[];

export interface Times {
  readonly ours: Samples;
  readonly rivals: ReadonlyMap<Contender, Samples>;
}

/**
 * Returns the CPU time of this process. Only one thread of this process is busy, so its CPU time is the time of its
 * work. Time that other programs on the machine take is not included.
 */
function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Times all contenders in interleaved rounds. In each round, a contender first runs once without being timed, because
 * the contenders before it have replaced its data in the caches.
 */
export async function timeSideBySide(
  ours: Contender,
  rivals: readonly Contender[],
  effort: keyof typeof EFFORTS,
): Promise<Times> {
  const { rounds: allowed, warmUpMs, sampleMs } = EFFORTS[effort];
  const all = [ours, ...rivals];
  for (const contender of all) await warmUp(contender, warmUpMs);
  const guesses = new Map<Contender, number>();
  for (const contender of all) guesses.set(contender, await timed(contender, 1));
  const guess = (contender: Contender) => guesses.get(contender) as number;
  const fastest = Math.min(...rivals.map(guess));
  const running = [ours, ...rivals.filter((rival) => guess(rival) < MAX_SLOWDOWN * fastest)];
  const repeats = (contender: Contender) => Math.ceil(sampleMs / guess(contender));
  const roundMs = running.reduce((sum, each) => sum + (1 + repeats(each)) * guess(each), 0);
  const rounds = Math.max(allowed.min, Math.min(allowed.max, Math.floor(BUDGET_MS / roundMs)));
  const samples = new Map(running.map((contender) => [contender, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [contender, ms] of samples) {
      await contender.run();
      ms.push(await timed(contender, repeats(contender)));
    }
  }
  const own = samples.get(ours) as Samples;
  samples.delete(ours);
  return { ours: own, rivals: samples };
}

async function warmUp(contender: Contender, warmUpMs: number): Promise<void> {
  const start = milliseconds();
  do await contender.run();
  while (milliseconds() - start < warmUpMs);
}

async function timed({ run }: Contender, repeats: number): Promise<number> {
  const start = milliseconds();
  for (let i = 0; i < repeats; i++) await run();
  return (milliseconds() - start) / repeats;
}

/** Returns the median of a / b over the rounds. */
export const ratio = (a: Samples, b: Samples): number => median(a.map((ms, round) => ms / (b[round] as number)));
