import { getHeapStatistics } from "node:v8";
import { errorCodes } from "#sdk/artifact/error-codes.ts";
import { restorePrototypes } from "./prototypes.ts";
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

/** Memory that one attempt may add, in bytes. Inputs have less than 200 KB. */
const MAX_GROWTH = 128 * 2 ** 20;

export const noOutcomes = (): Outcomes => ({ attempts: 0, accepted: 0, refused: new Map(), findings: [] });

/** Makes one attempt, and counts its outcome. */
export async function attemptOnce(attempt: Attempt, seed: number, outcomes: Outcomes): Promise<void> {
  outcomes.attempts++;
  const before = usedBytes();
  const outcome = await Promise.resolve()
    .then(() => attempt(seed))
    .catch((error: unknown) => `error: ${error instanceof Error ? error.stack : error}`);
  const changed = restorePrototypes();
  const growth = usedBytes() - before;
  if (changed.length > 0) outcomes.findings.push({ seed, what: `${changed} has changed` });
  else if (growth > MAX_GROWTH) outcomes.findings.push({ seed, what: `${growth} bytes of memory for a small input` });
  else if (outcome === "accepted") outcomes.accepted++;
  else if (isRefusal(outcome)) outcomes.refused.set(outcome, (outcomes.refused.get(outcome) ?? 0) + 1);
  else outcomes.findings.push({ seed, what: outcome });
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** A refusal has an error code of the package. In some dialects, an HTTP answer has only a status. */
const isRefusal = (outcome: string): boolean =>
  (Object.hasOwn(errorCodes, outcome) && outcome !== "internal") || /^(not_packed|http_4\d\d)$/.test(outcome);

/** Adds the outcomes of another part of the seeds. */
export function add(sum: Outcomes, part: Outcomes): void {
  sum.attempts += part.attempts;
  sum.accepted += part.accepted;
  for (const [code, times] of part.refused) sum.refused.set(code, (sum.refused.get(code) ?? 0) + times);
  sum.findings.push(...part.findings);
}
