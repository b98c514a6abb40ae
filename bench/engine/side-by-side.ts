import { median } from "../run-tool.ts";

/** Bounds of the number of rounds; the time decides between them. */
const ROUNDS = { least: 5, most: 21 };
const BUDGET_MS = 30_000;

/** Until V8 has compiled for speed what is called. */
const WARM_UP_MS = 1000;
/** Enough for the clock. */
const SAMPLE_MS = 30;

/** Engines that take this many times as long as the fastest are left out of the rounds. */
const HOPELESS = 1.5;

/** One way to compute the same. */
export interface Contender {
  readonly name: string;
  run(): Promise<unknown>;
}

/** Milliseconds of one run, by round. */
export type Samples = readonly number[];

export interface Times {
  readonly ours: Samples;
  readonly rivals: ReadonlyMap<Contender, Samples>;
}

/** CPU time of this process, where only one thread works. Other processes on the machine do not count. */
function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Rounds in which each runs once more, first untimed: the others went through its caches. */
export async function timeSideBySide(ours: Contender, rivals: readonly Contender[]): Promise<Times> {
  const all = [ours, ...rivals];
  for (const contender of all) await warmUp(contender);
  const guesses = new Map<Contender, number>();
  for (const contender of all) guesses.set(contender, await timed(contender, 1));
  const guess = (contender: Contender) => guesses.get(contender) as number;
  const least = Math.min(...rivals.map(guess));
  const running = [ours, ...rivals.filter((rival) => guess(rival) < HOPELESS * least)];
  const repeats = (contender: Contender) => Math.ceil(SAMPLE_MS / guess(contender));
  const roundMs = running.reduce((sum, each) => sum + (1 + repeats(each)) * guess(each), 0);
  const rounds = Math.max(ROUNDS.least, Math.min(ROUNDS.most, Math.floor(BUDGET_MS / roundMs)));
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

async function warmUp(contender: Contender): Promise<void> {
  const start = milliseconds();
  do await contender.run();
  while (milliseconds() - start < WARM_UP_MS);
}

async function timed({ run }: Contender, repeats: number): Promise<number> {
  const start = milliseconds();
  for (let i = 0; i < repeats; i++) await run();
  return (milliseconds() - start) / repeats;
}

/** Ratio of the times of `a` and `b` in the same round. */
export const ratio = (a: Samples, b: Samples): number => median(a.map((ms, round) => ms / (b[round] as number)));
