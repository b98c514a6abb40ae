import type { Attempt } from "./target.ts";

/** The outcomes of many attempts. */
export interface Outcomes {
  attempts: number;
  accepted: number;
  /** Refusals by their code. */
  readonly refused: Map<string, number>;
  readonly findings: Finding[];
}

interface Finding {
  readonly seed: number;
  readonly what: string;
}

export const noOutcomes = (): Outcomes => ({ attempts: 0, accepted: 0, refused: new Map(), findings: [] });

/** Makes one attempt, and counts its outcome. */
export async function attemptOnce(attempt: Attempt, seed: number, outcomes: Outcomes): Promise<void> {
  outcomes.attempts++;
  const outcome = await Promise.resolve()
    .then(() => attempt(seed))
    .catch((error: unknown) => `error: ${error instanceof Error ? error.stack : error}`);
  const pollution = Object.keys(Object.prototype).concat(Object.keys(Array.prototype));
  if (pollution.length > 0) {
    for (const name of pollution) delete (Object.prototype as Record<string, unknown>)[name];
    outcomes.findings.push({ seed, what: `the prototype of objects has ${pollution}` });
  }
  if (outcome === "accepted") outcomes.accepted++;
  else if (/^[a-z_0-9]+$/.test(outcome)) outcomes.refused.set(outcome, (outcomes.refused.get(outcome) ?? 0) + 1);
  else outcomes.findings.push({ seed, what: outcome });
}

/** Adds the outcomes of another part of the seeds. */
export function add(sum: Outcomes, part: Outcomes): void {
  sum.attempts += part.attempts;
  sum.accepted += part.accepted;
  for (const [code, times] of part.refused) sum.refused.set(code, (sum.refused.get(code) ?? 0) + times);
  sum.findings.push(...part.findings);
}
