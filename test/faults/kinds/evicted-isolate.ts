import { setTimeout } from "node:timers/promises";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import { startDirectEdge } from "../../fixtures/direct-edge.ts";
import { s3Env, startObjectStorage } from "../../fixtures/object-storage.ts";
import { workerModules } from "../../fixtures/worker-modules.ts";
import type { Fault, Outcome } from "../fault.ts";
import { startFaultyProxy } from "../faulty-proxy.ts";
import { NAME, texts, twoVersions } from "../two-versions.ts";

/** Delay of each answer of the store, in ms. A load needs three answers. */
const SLOW_MS = 60;
const LOAD_MS = 250;
const KEY = "key";

/** Kills the workerd of a Worker at a random time of its load, while a request waits, and starts another one. */
export const evictedIsolate: Fault = {
  name: "isolate evicted while it loads",
  times: { long: 20, short: 1 },
  async start() {
    const versions = await twoVersions();
    const storage = await startObjectStorage();
    const proxy = await startFaultyProxy(storage.access.endpoint, SLOW_MS);
    const store = s3Publisher(storage.access);
    const modules = await workerModules({ entryPoints: ["functions/edge.ts"] });
    const env = { MODEL: NAME, API_KEYS: KEY, ...s3Env({ ...storage.access, endpoint: proxy.url }) };
    const ask = async (url: string): Promise<Outcome> => {
      const text = texts[0] as string;
      const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify({ inputs: [text] }) };
      return versions.outcomeOf(await fetch(`${url}/v1/embed`, init), text);
    };
    let number = 0;
    return {
      async attempt(random) {
        await publish(number++ % 2 === 0 ? versions.old : versions.new, store);
        proxy.impose("too slow", random);
        const first = await startDirectEdge({ modules, env, warm: false });
        // Resolves when the connection breaks, or with an answer.
        const asked = ask(first.url).catch((): Outcome => ({ code: "connection_lost" }));
        await setTimeout(random() * LOAD_MS);
        await first.stop();
        const outcome = await asked;
        proxy.impose(undefined);
        const second = await startDirectEdge({ modules, env, warm: false });
        const again = await ask(second.url);
        await second.stop();
        return { outcome, recovered: again === (number % 2 === 1 ? "old" : "new") };
      },
      async [Symbol.asyncDispose]() {
        await proxy.stop();
        await storage.stop();
      },
    };
  },
};
