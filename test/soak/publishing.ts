import { setTimeout } from "node:timers/promises";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import type { Deployment } from "./deployment.ts";
import { LIVE_MS } from "./judge.ts";
import { nextVersion } from "./models.ts";
import type { Seen } from "./traffic.ts";

const POLL_MS = 100;
/**
 * Time in ms after which the clocks are put forward again. A tier's look for a new version ends with the request in which it began, and some
 * callers of a soak go before their answer. Then only its next look finds the version, a minute later.
 */
const HURRY_MS = 5_000;

export interface Publishing {
  readonly publishMs: number;
  /** Puts the clocks of both tiers forward after each publication, so that they look for it at once. */
  readonly hurry: boolean;
  readonly seen: Seen;
  readonly isOver: () => boolean;
  /** Whether a process has ended, so that nobody serves what is published. */
  readonly hasCrashed: () => boolean;
}

/**
 * Publishes new versions, each of them after the earlier one was in an answer.
 *
 * @returns time from each publication until its version was in an answer, in ms; undefined if it took too long
 */
export async function publishing(
  { store, minuteLater }: Deployment,
  artifact: PublishableArtifact,
  { publishMs, hurry, seen, isOver, hasCrashed }: Publishing,
): Promise<(number | undefined)[]> {
  const liveAfterMs: (number | undefined)[] = [];
  for (let number = 1; ; number++) {
    const start = performance.now();
    for (; performance.now() - start < publishMs; await setTimeout(POLL_MS)) if (isOver()) return liveAfterMs;
    const next = await nextVersion(artifact, number);
    await publish(next, store);
    const published = performance.now();
    let lookedAt = hurry ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const isInTime = () => performance.now() - published < LIVE_MS && !hasCrashed();
    while (!seen.versions.has(next.version) && isInTime()) {
      if (performance.now() - lookedAt >= HURRY_MS) {
        lookedAt = performance.now();
        await minuteLater();
      }
      await setTimeout(POLL_MS);
    }
    const at = seen.versions.get(next.version);
    liveAfterMs.push(at === undefined ? undefined : at - published);
    if (at === undefined) return liveAfterMs;
  }
}
