import { join } from "node:path";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { ManagedStore } from "#sdk/storage/store.ts";
import { clockedEdge } from "../fixtures/clocked-edge.ts";
import { startDirectEdge } from "../fixtures/direct-edge.ts";
import { withHeapLimit } from "../fixtures/heap-limit.ts";
import { s3Env, startObjectStorage } from "../fixtures/object-storage.ts";
import { allocatorSettings, startRegionProcess } from "../fixtures/region-process.ts";
import { childProcess, residentBytes } from "./child-process.ts";
import { connectInspector, type IsolateMemory, sumOf } from "./isolate-memory.ts";

const MINUTE_LATER = join(import.meta.dirname, "minute-later.ts");

export const KEY = "the-key";
/** Keys of the caller whose requests must be answered beside an attack, and of the attacker. */
export const [STEADY_KEY, ATTACKER_KEY] = ["the-key-of-a-steady-caller", "the-key-of-an-attacker"];
const API_KEYS = JSON.stringify([
  { name: "mix", key: KEY },
  { name: "steady", key: STEADY_KEY },
  { name: "attacker", key: ATTACKER_KEY },
]);
const DEADLINE_MS = 60_000;

/** Memory of edge and region, in bytes. */
export interface Memory {
  readonly isolate: IsolateMemory;
  /** WebAssembly memory of the loaded models, which the inspector does not count. */
  readonly models: number;
  /** Resident memory of workerd, with Miniflare's own isolates. */
  readonly workerd: number;
  readonly regionHeap: number;
  readonly region: number;
}

/** An edge in workerd, a region in Node and their store, all on this machine. */
export interface Deployment extends AsyncDisposable {
  readonly url: string;
  readonly regionUrl: string;
  readonly store: ManagedStore;
  /** Lines that the edge has logged. */
  readonly log: readonly string[];
  measure(): Promise<Memory>;
  /** Returns the bytes of the isolate at this moment, garbage included, without its models. */
  glance(): Promise<number>;
  /** Puts the clocks of both tiers forward, so that they look for new versions at once. */
  minuteLater(): Promise<void>;
  /** Returns the tiers whose process has ended. */
  crashed(): Promise<string[]>;
}

/**
 * @param names of the models, the default first
 * @param heapMib largest heap of the edge's isolate, in MiB
 */
export async function startDeployment(
  { names, heapMib }: { readonly names: readonly string[]; readonly heapMib: number },
  publishAll: (store: ManagedStore) => Promise<void>,
): Promise<Deployment> {
  await using stack = new AsyncDisposableStack();
  const storage = await startObjectStorage();
  stack.defer(() => storage.stop());
  const store = s3Publisher(storage.access);
  await publishAll(store);
  const models = { MODEL: names.join(","), API_KEYS, ...s3Env(storage.access) };
  const inspectorPort = await freePort();
  const region = await startRegionProcess({
    env: {
      ...models,
      ...(await allocatorSettings()),
      SESSIONS: "1",
      NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort} --import ${MINUTE_LATER}`,
    },
  });
  stack.defer(() => region.stop());
  const log: string[] = [];
  const edge = await withHeapLimit(
    async () =>
      startDirectEdge({
        modules: await clockedEdge("...settings, metrics: true, log: false"),
        env: { ...models, REGION_URL: region.url, REGION_KEY: KEY },
        ...{ warm: false, inspect: true, onOutput: (line) => log.push(line) },
      }),
    heapMib,
  );
  stack.defer(() => edge.stop());
  const { url, inspector = "" } = edge;
  const [workerd, regionPid] = [await childProcess("workerd"), await childProcess("functions/region.ts")];
  const wake = () => get(`${url}/health`);
  const ofEdge = await connectInspector(inspector, (title) => title.includes("core:user:"), wake);
  const ofRegion = await connectInspector(
    `http://127.0.0.1:${inspectorPort}`,
    () => true,
    () => get(`${region.url}/health`),
  );
  stack.defer(() => ofEdge.close());
  stack.defer(() => ofRegion.close());
  const started = stack.move();
  return {
    url,
    regionUrl: region.url,
    store,
    log,
    async measure() {
      const isolate = await ofEdge.measure();
      const { heap } = await ofRegion.measure();
      const metrics = await get(`${url}/metrics`);
      const [, bytes] = /^bert_edge_model_bytes (\d+)$/m.exec(metrics) ?? [];
      if (bytes === undefined) throw new Error(`/metrics has no bert_edge_model_bytes: ${metrics.slice(0, 500)}`);
      return {
        isolate,
        models: Number(bytes),
        workerd: await residentBytes(workerd),
        regionHeap: heap,
        region: await residentBytes(regionPid),
      };
    },
    async minuteLater() {
      process.kill(Number(regionPid), "SIGUSR2");
      await get(`${url}/minute-later`);
    },
    async crashed() {
      const tiers = { edge: workerd, region: regionPid };
      const ended: string[] = [];
      for (const [tier, pid] of Object.entries(tiers)) if ((await residentBytes(pid)) === 0) ended.push(tier);
      return ended;
    },
    glance: async () => sumOf(await ofEdge.glance()),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

async function get(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DEADLINE_MS) });
  return response.text();
}
