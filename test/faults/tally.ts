import type { Attempt, Fault } from "./fault.ts";

/** The attempts of a fault, counted. */
export interface Tally {
  readonly name: string;
  attempts: number;
  old: number;
  new: number;
  /** Errors by their code. */
  readonly errors: Map<string, number>;
  recovered: number;
  /** What was wrong, each with the seed of its attempt. */
  readonly wrong: string[];
  /** Seeds of attempts after which something did not work again. */
  readonly lost: number[];
}

export const emptyTally = (name: string): Tally => ({
  ...{ name, attempts: 0, old: 0, new: 0, errors: new Map(), recovered: 0, wrong: [], lost: [] },
});

function count(tally: Tally, { outcome, recovered }: Attempt, seed: number): void {
  tally.attempts++;
  if (typeof outcome === "string") tally[outcome]++;
  else if ("code" in outcome) tally.errors.set(outcome.code, (tally.errors.get(outcome.code) ?? 0) + 1);
  else tally.wrong.push(`${outcome.wrong} (seed ${seed})`);
  if (recovered) tally.recovered++;
  else tally.lost.push(seed);
}

/** Performs the attempts of a fault, each with a seed of its own. */
export async function attempt(
  fault: Fault,
  { times, seed, random }: { times: number; seed: number; random: (seed: number) => () => number },
): Promise<Tally> {
  const tally = emptyTally(fault.name);
  await using running = await fault.start();
  for (let i = 0; i < times; i++) count(tally, await running.attempt(random(seed + i)), seed + i);
  return tally;
}

/** Formats tallies as a Markdown table. */
export function markdown(tallies: readonly Tally[]): string {
  const head = ["fault", "attempts", "old model", "new model", "error", "recovered", "wrong", "lost"];
  const rows = tallies.map((tally) => {
    const errors = [...tally.errors].map(([code, times]) => `\`${code}\` ${times}`).join(", ");
    return [
      ...[
        tally.name,
        tally.attempts,
        tally.old,
        tally.new,
        errors,
        tally.recovered,
        tally.wrong.length,
        tally.lost.length,
      ],
    ].map(String);
  });
  const widths = head.map((title, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0), title.length),
  );
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}
