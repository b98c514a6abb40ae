import { setTimeout as sleep } from "node:timers/promises";
import { type Held, type Holder, holders } from "#test/callers/held.ts";
import { residentBytes } from "#test/soak/child-process.ts";
import { connectInspector, type Inspector, sumOf } from "#test/soak/isolate-memory.ts";
import { type FairDeployment, FLOOD_KEY } from "../fairness/deployment.ts";

const MIB = 1024 * 1024;
const EVERY_MS = 100;
/** Looks between two garbage collections, which take time from the isolate. */
const LOOKS = 10;
const WARM_REQUESTS = 200;
/** Longest time in ms for which a tier may be silent. */
const DEADLINE_MS = 60_000;

export interface Watched {
  /** Most MiB of the isolate beside the model: heap and buffers after a garbage collection, and garbage included. */
  readonly isolateMiB: number | undefined;
  readonly withGarbageMiB: number | undefined;
  /** Growth of the resident memory in MiB: the most, and after the connections were closed. */
  readonly grownMiB: number;
  readonly leftMiB: number;
  /** Latency of `GET /health` in ms: median and longest. */
  readonly healthMs: readonly number[];
  /** Connections that the server ended, and the ms after which each ended. */
  readonly endedMs: readonly number[];
  readonly how: Readonly<Record<string, number>>;
  readonly connections: number;
  readonly crashed: boolean;
}

/** Opens connections of each kind that are held, and watches a tier's memory meanwhile. */
export async function watch(
  { url, pids, inspector: origin }: FairDeployment,
  kinds: Readonly<Partial<Record<Holder, number>>>,
  durationMs: number,
): Promise<Watched> {
  const pid = `${pids.edge ?? pids.region}`;
  const health = async () => {
    const start = performance.now();
    const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(DEADLINE_MS) });
    await response.arrayBuffer();
    return performance.now() - start;
  };
  await using stack = new AsyncDisposableStack();
  let inspector: Inspector | undefined;
  if (origin) {
    inspector = await connectInspector(origin, (title) => title.includes("core:user:"), health);
    stack.defer(() => inspector?.close());
    await inspector.measure();
  }
  // Memory that the first requests leave behind does not count for the connections.
  for (let i = 0; i < WARM_REQUESTS; i++) await health();
  const before = await residentBytes(pid);
  const held: Held[] = [];
  stack.defer(() => {
    for (const { close } of held) close();
  });
  const access = { url, key: FLOOD_KEY };
  for (const [kind, count] of Object.entries(kinds))
    for (let i = 0; i < count; i++) held.push(holders[kind as Holder](access));
  const endedMs: number[] = [];
  const how: Record<string, number> = {};
  for (const { ended } of held) {
    void ended.then((end) => {
      endedMs.push(end.ms);
      how[end.how] = (how[end.how] ?? 0) + 1;
    });
  }

  const isolate = { live: 0, all: 0 };
  let most = before;
  const healthMs: number[] = [];
  let crashed = false;
  const start = performance.now();
  for (let look = 0; performance.now() - start < durationMs && !crashed; look++) {
    try {
      healthMs.push(await health());
      if (inspector) {
        isolate.all = Math.max(isolate.all, sumOf(await inspector.glance()));
        if (look % LOOKS === 0) isolate.live = Math.max(isolate.live, sumOf(await inspector.measure()));
      }
      await sleep(EVERY_MS);
    } catch (error) {
      // A process that ends answers neither.
      if ((await residentBytes(pid)) > 0) throw error;
    }
    const resident = await residentBytes(pid);
    crashed = resident === 0;
    most = Math.max(most, resident);
  }
  // Closing the connections also ends them.
  const atEnd = { endedMs: [...endedMs], how: { ...how } };
  for (const { close } of held) close();
  if (!crashed) await sleep(1_000);
  return {
    isolateMiB: inspector && isolate.live / MIB,
    withGarbageMiB: inspector && isolate.all / MIB,
    grownMiB: (most - before) / MIB,
    leftMiB: ((await residentBytes(pid)) - before) / MIB,
    ...{ healthMs, ...atEnd, connections: held.length, crashed },
  };
}
