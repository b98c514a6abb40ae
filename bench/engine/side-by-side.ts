import { median } from "../run-tool.ts";

const ROUNDS = 15;

/** Until V8 has compiled for speed what is called. */
const WARM_UP_MS = 1000;
/** Enough for the clock. */
const SAMPLE_MS = 30;

/** One way to compute the same. */
export interface Contender {
  readonly name: string;
  run(): Promise<unknown>;
}

/** Milliseconds of one run, by round. */
export type Samples = readonly number[];

/** Of all threads of this process, of which only one works: what else runs on the machine takes none of them. */
function milliseconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Rounds in which every contender runs once more, first untimed: the others went through its caches. */
export async function timeSideBySide(contenders: readonly Contender[]): Promise<Samples[]> {
  const repeats: number[] = [];
  for (const contender of contenders) repeats.push(Math.ceil(SAMPLE_MS / (await warmUp(contender))));
  const samples = contenders.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, contender] of contenders.entries()) {
      await contender.run();
      samples[i]?.push(await timed(contender, repeats[i] as number));
    }
  }
  return samples;
}

/** @returns about the milliseconds of a run */
export async function warmUp(contender: Contender): Promise<number> {
  const start = milliseconds();
  let ms = 0;
  do ms = await timed(contender, 1);
  while (milliseconds() - start < WARM_UP_MS);
  return ms;
}

async function timed({ run }: Contender, repeats: number): Promise<number> {
  const start = milliseconds();
  for (let i = 0; i < repeats; i++) await run();
  return (milliseconds() - start) / repeats;
}

/** How many times as long `a` took as `b`, of runs in the same round. */
export const ratio = (a: Samples, b: Samples): number => median(a.map((ms, round) => ms / (b[round] as number)));
