import { getHeapStatistics } from "node:v8";
import { restorePrototypes } from "./prototypes.ts";
import type { Attempt, Refusal } from "./target.ts";

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

/** Memory that one attempt may add, in bytes, garbage included. Inputs have less than 200 KB, and the longest texts 100,000 characters. */
const MAX_GROWTH = 128 * 2 ** 20;

/**
 * CPU time of this thread that one attempt may take, in ms. Most take less than 1 ms, and the longest texts some 100 ms. Work that is
 * quadratic in them takes longer. Other threads and processes do not count.
 */
const MAX_CPU_MS = 4_000;

/** An attempt, and the codes with which it may refuse its input. */
export interface Trial {
  readonly attempt: Attempt;
  readonly refusals: readonly Refusal[];
}

export const noOutcomes = (): Outcomes => ({ attempts: 0, accepted: 0, refused: new Map(), findings: [] });

/** Makes one attempt, and counts its outcome. */
export async function attemptOnce({ attempt, refusals }: Trial, seed: number, outcomes: Outcomes): Promise<void> {
  outcomes.attempts++;
  const before = usedBytes();
  const start = process.threadCpuUsage();
  const outcome = await Promise.resolve()
    .then(() => attempt(seed))
    .catch((error: unknown) => `error: ${error instanceof Error ? error.stack : error}`);
  const changed = restorePrototypes();
  const growth = usedBytes() - before;
  const { user, system } = process.threadCpuUsage(start);
  const cpuMs = (user + system) / 1000;
  if (changed.length > 0) outcomes.findings.push({ seed, what: `${changed} has changed` });
  else if (growth > MAX_GROWTH) outcomes.findings.push({ seed, what: `${growth} bytes of memory for a small input` });
  else if (cpuMs > MAX_CPU_MS) outcomes.findings.push({ seed, what: `${Math.round(cpuMs)} ms of CPU time` });
  else if (outcome === "accepted") outcomes.accepted++;
  else if ((refusals as readonly string[]).includes(outcome))
    outcomes.refused.set(outcome, (outcomes.refused.get(outcome) ?? 0) + 1);
  else outcomes.findings.push({ seed, what: outcome });
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** Adds the outcomes of another part of the seeds. */
export function add(sum: Outcomes, part: Outcomes): void {
  sum.attempts += part.attempts;
  sum.accepted += part.accepted;
  for (const [code, times] of part.refused) sum.refused.set(code, (sum.refused.get(code) ?? 0) + times);
  sum.findings.push(...part.findings);
}
