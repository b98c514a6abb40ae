import { setTimeout } from "node:timers/promises";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { randomNumbers } from "../fixtures/seeded.ts";
import { type Deployment, type Memory, startDeployment } from "./deployment.ts";
import { nextVersion } from "./models.ts";
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
  /** Puts the clock of the edge forward after each publication, so that the edge looks for it at once. Default false. */
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
  /** Time from each publication until its version was in an answer, in ms; undefined if it never was. */
  readonly liveAfterMs: readonly (number | undefined)[];
}

/** Sends mixed traffic to an edge with a region, publishes new versions meanwhile, and measures memory. */
export async function soak(options: SoakOptions): Promise<Soaked> {
  const { artifacts, durationMs, sampleMs, publishMs, seed, hurry = false, onSample = () => {} } = options;
  await using deployment = await startDeployment(async (store) => {
    for (const artifact of artifacts) await publish(artifact, store);
  });
  const start = performance.now();
  const isOver = () => performance.now() - start > durationMs;
  const seen = nothingSeen();
  const answers = new Map<string, string>();
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    send(deployment.url, randomNumbers(seed + i), seen, answers, isOver),
  );
  const published = publishing(deployment, artifacts[0] as PublishableArtifact, { publishMs, hurry, isOver });
  let peak = 0;
  const glancing = (async () => {
    for (; !isOver(); await setTimeout(GLANCE_MS)) peak = Math.max(peak, await deployment.glance());
  })();
  const samples: Sample[] = [];
  while (!isOver()) {
    const requests = [...seen.counts.values()].reduce((sum, times) => sum + times, 0);
    const sample = { ...(await deployment.measure()), atMs: performance.now() - start, requests, peak };
    peak = 0;
    samples.push(sample);
    onSample(sample);
    await setTimeout(Math.min(sampleMs, Math.max(0, durationMs - (performance.now() - start))));
  }
  await Promise.all([...clients, glancing]);
  const liveAfterMs = [...(await published)].map(([version, at]) => {
    const seenAt = seen.versions.get(version);
    return seenAt === undefined ? undefined : seenAt - at;
  });
  return { samples, seen, liveAfterMs };
}

interface Publishing {
  readonly publishMs: number;
  readonly hurry: boolean;
  readonly isOver: () => boolean;
}

/** Publishes new versions. @returns when each was published, in ms of `performance.now()` */
async function publishing(
  { store, url }: Deployment,
  artifact: PublishableArtifact,
  { publishMs, hurry, isOver }: Publishing,
): Promise<Map<string, number>> {
  const published = new Map<string, number>();
  const start = performance.now();
  for (let number = 1; ; number++) {
    while (performance.now() - start < number * publishMs) {
      if (isOver()) return published;
      await setTimeout(100);
    }
    const next = await nextVersion(artifact, number);
    await publish(next, store);
    published.set(next.version, performance.now());
    if (hurry) await (await fetch(`${url}/minute-later`)).text();
  }
}
