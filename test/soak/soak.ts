import { setTimeout } from "node:timers/promises";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { startSteady } from "../callers/process.ts";
import { rightAnswers } from "../callers/right.ts";
import type { Tally } from "../callers/tally.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { ATTACKS, type Attacked, attackInTurns } from "./attacks.ts";
import { ATTACKER_KEY, type Memory, STEADY_KEY, startDeployment } from "./deployment.ts";
import { expectedAnswers } from "./expected-answers.ts";
import { mixOf } from "./mix.ts";
import type { SoakModels } from "./models.ts";
import { publishing } from "./publishing.ts";
import { nothingSeen, type Seen, send } from "./traffic.ts";

/** Requests at a time. */
const CLIENTS = 6;
/** Pause between two looks at the isolate's memory, in ms. */
const GLANCE_MS = 50;
/** Milliseconds between two requests of the steady caller. */
const STEADY_MS = 200;
/** Longest attack in ms. In a short run, each tier is attacked in each way all the same. */
const LONGEST_ATTACK_MS = 5_000;

export interface SoakOptions {
  readonly artifacts: readonly PublishableArtifact[];
  readonly models: SoakModels;
  readonly durationMs: number;
  readonly sampleMs: number;
  /** Time between a new version in use and the next publication; undefined: no new versions. */
  readonly publishMs: number | undefined;
  readonly heapMib: number;
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
  /** Time from each publication until its version was in an answer, in ms; undefined if it took too long. Undefined without publications. */
  readonly liveAfterMs: readonly (number | undefined)[] | undefined;
  /** Long texts that were sent, and ways to read them. */
  readonly heavy: { readonly sent: number; readonly ways: number };
  /** Answers that a steady caller with a key of its own has got, and results of attacks with another key. */
  readonly steady: Tally;
  readonly attacked: Attacked;
  /** Tiers whose process has ended. */
  readonly crashed: readonly string[];
  /** Lines that the edge has logged. */
  readonly log: readonly string[];
}

/**
 * Sends mixed traffic to an edge with a region, attacks both with another key, publishes new versions meanwhile, and measures memory. Ends
 * when the last version that was published is served, or when a process has ended.
 */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const {
    artifacts,
    models,
    durationMs,
    sampleMs,
    publishMs,
    heapMib,
    seed,
    hurry = false,
    onSample = () => {},
  } = options;
  await using expected = await expectedAnswers(artifacts);
  const names = artifacts.map(({ manifest }) => manifest.name);
  await using deployment = await startDeployment({ names, heapMib }, async (store) => {
    for (const artifact of artifacts) await publish(artifact, store);
  });
  const { url, regionUrl } = deployment;
  const right = await rightAnswers({ url, key: STEADY_KEY }, ["edge", "region"]);
  const start = performance.now();
  const seen = nothingSeen();
  let crashed: readonly string[] = [];
  const isLate = () => performance.now() - start > durationMs || crashed.length > 0;
  const stopped = new AbortController();
  /** Returns the result of work; undefined if it failed because a process has ended. */
  async function unlessCrashed<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      crashed = await deployment.crashed();
      if (crashed.length === 0) throw error;
      return undefined;
    }
  }
  const published = unlessCrashed(
    publishing(deployment, artifacts[0] as PublishableArtifact, {
      ...{ publishMs: publishMs ?? Number.POSITIVE_INFINITY, hurry, seen, isOver: isLate },
      hasCrashed: () => crashed.length > 0,
    }),
  ).finally(() => stopped.abort());
  const isOver = () => isLate() && stopped.signal.aborted;
  const mix = mixOf(models);
  const [renewed] = models.main;
  const steady = startSteady({
    access: { url, key: STEADY_KEY },
    ...{ everyMs: STEADY_MS, durationMs, budgetMs: undefined, right: right.right },
  });
  const attacking = attackInTurns({
    tiers: [url, regionUrl].map((url) => ({ url, key: ATTACKER_KEY })),
    ...{ right, lastMs: Math.min(LONGEST_ATTACK_MS, durationMs / (2 * ATTACKS)), isOver },
  });
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    send({ url, random: randomNumbers(seed + i), draw: mix.draw, seen, expected, isOver, renewed }),
  );
  let peak = 0;
  const glancing = (async () => {
    for (; !isOver(); await setTimeout(GLANCE_MS)) {
      peak = Math.max(peak, (await unlessCrashed(deployment.glance())) ?? 0);
    }
  })();
  const samples: Sample[] = [];
  async function takeSample(): Promise<void> {
    const requests = [...seen.counts.values()].reduce((sum, outcomes) => sum + sumOfCounts(outcomes), 0);
    const memory = await unlessCrashed(deployment.measure());
    if (!memory) return;
    const sample = { ...memory, atMs: performance.now() - start, requests, peak };
    peak = 0;
    samples.push(sample);
    onSample(sample);
  }
  while (!isOver()) {
    await takeSample();
    await setTimeout(sampleMs, undefined, { signal: stopped.signal }).catch(() => {});
    if (stopped.signal.aborted) break;
  }
  const publications = (await published) ?? [];
  const liveAfterMs = publishMs === undefined ? undefined : publications;
  await Promise.all([...clients, glancing]);
  steady.stop();
  const [attacked, called] = await Promise.all([attacking, steady.called]);
  // The last requests may have the highest peak.
  await takeSample();
  crashed = await deployment.crashed();
  const heavy = { sent: mix.heavySent(), ways: mix.heavyWays };
  return { samples, seen, liveAfterMs, heavy, steady: called, attacked, crashed, log: deployment.log };
}

const sumOfCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, times) => sum + times, 0);
