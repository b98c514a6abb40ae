import { setTimeout } from "node:timers/promises";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { type Memory, startDeployment } from "./deployment.ts";
import { expectedAnswers } from "./expected-answers.ts";
import { drawShots, HEAVY_SHOTS } from "./mix.ts";
import { publishing } from "./publishing.ts";
import { nothingSeen, type Seen, send } from "./traffic.ts";

/** Requests at a time. */
const CLIENTS = 6;
/** Pause between two looks at the isolate's memory, in ms. */
const GLANCE_MS = 50;

export interface SoakOptions {
  readonly artifacts: readonly PublishableArtifact[];
  readonly durationMs: number;
  readonly sampleMs: number;
  readonly publishMs: number;
  readonly seed: number;
  /** Puts the clocks of both tiers forward after each publication, so that they look for it at once. Default false. */
  readonly hurry?: boolean;
  readonly onSample?: (sample: Sample) => void;
}

export interface Sample extends Memory {
  /** Since the start, in ms. */
  readonly atMs: number;
  readonly requests: number;
  /** Most bytes of the isolate since the last sample, garbage included, without its models. */
  readonly peak: number;
}

export interface Soaked {
  readonly samples: readonly Sample[];
  readonly seen: Seen;
  /** Time from each publication until its version was in an answer, in ms; undefined if it took too long. */
  readonly liveAfterMs: readonly (number | undefined)[];
  /** Long texts that were sent, and ways to read them. */
  readonly heavy: { readonly sent: number; readonly ways: number };
  /** Lines that the edge has logged. */
  readonly log: readonly string[];
}

/**
 * Sends mixed traffic to an edge with a region, publishes new versions meanwhile, and measures memory. Ends when the last version that
 * was published is served.
 */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { artifacts, durationMs, sampleMs, publishMs, seed, hurry = false, onSample = () => {} } = options;
  await using expected = await expectedAnswers(artifacts);
  await using deployment = await startDeployment(async (store) => {
    for (const artifact of artifacts) await publish(artifact, store);
  });
  const start = performance.now();
  const seen = nothingSeen();
  const isLate = () => performance.now() - start > durationMs;
  const stopped = new AbortController();
  const published = publishing(deployment, artifacts[0] as PublishableArtifact, {
    ...{ publishMs, hurry, seen },
    isOver: isLate,
  }).finally(() => stopped.abort());
  const isOver = () => isLate() && stopped.signal.aborted;
  const shots = drawShots();
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    send({ url: deployment.url, random: randomNumbers(seed + i), draw: shots.draw, seen, expected, isOver }),
  );
  let peak = 0;
  const glancing = (async () => {
    for (; !isOver(); await setTimeout(GLANCE_MS)) peak = Math.max(peak, await deployment.glance());
  })();
  const samples: Sample[] = [];
  async function takeSample(): Promise<void> {
    const requests = [...seen.counts.values()].reduce((sum, outcomes) => sum + sumOfCounts(outcomes), 0);
    const sample = { ...(await deployment.measure()), atMs: performance.now() - start, requests, peak };
    peak = 0;
    samples.push(sample);
    onSample(sample);
  }
  while (!isOver()) {
    await takeSample();
    await setTimeout(sampleMs, undefined, { signal: stopped.signal }).catch(() => {});
    if (stopped.signal.aborted) break;
  }
  const liveAfterMs = await published;
  await Promise.all([...clients, glancing]);
  // The last requests may have the highest peak.
  await takeSample();
  return { samples, seen, liveAfterMs, heavy: { sent: shots.heavySent(), ways: HEAVY_SHOTS }, log: deployment.log };
}

const sumOfCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, times) => sum + times, 0);
