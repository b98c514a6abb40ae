import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PublishableArtifact } from "#sdk/artifact/artifact.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { wholeModel } from "#sdk/runtime/start-model.ts";
import { embedCall } from "#sdk/runtime/tasks/embed.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { regionTier } from "#sdk/serve/region/region.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import { startObjectStorage } from "../../fixtures/object-storage.ts";
import { quick } from "../../fixtures/preparable.ts";
import { KEY, servedRegion } from "../../fixtures/served-tiers.ts";
import { writePreparableCheckpoint } from "../../fixtures/tiny-bert.ts";
import type { Fault, Outcome } from "../fault.ts";
import { type ProxyFault, startFaultyProxy } from "../faulty-proxy.ts";

const NAME = "paged";
const CONFIG = { hidden_size: 64, intermediate_size: 256 };
/** With the whole table, the weights take 405,024 bytes. */
const MAX_MEMORY = 305_000;

/** Texts as token ids. Their rows are in different pages: only frequent tokens and small ids stay in memory. */
const texts = [
  [101, 4_900, 102],
  [101, 4_100, 4_500, 102],
  [101, 3_800, 4_300, 4_700, 102],
];
type Ids = (typeof texts)[number];

/**
 * Answers that are too slow come after two seconds, for which the edge waits before it asks its region, and before the store's time limit.
 * Requests have no budget: the region would be asked as late as possible, and a busy machine might then be too late.
 */
const [SLOW_MS, STORE_MS] = [4_000, 10_000];

type Tier = "edge" | "region";

/** Edges whose store fails when they read pages. With a region, it answers. Without one, requests fail, or wait for a slow store. */
const failing = (fault: ProxyFault, hasRegion: boolean): Fault => ({
  name: `store while reading pages: ${fault}${hasRegion ? ", with a region" : ""}`,
  times: { long: 20, short: 1 },
  async start() {
    await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-pages-"));
    const [model, out] = [join(folder.path, "model"), join(folder.path, "out")];
    await writePreparableCheckpoint(model, { config: CONFIG });
    const edge = { weightBits: 4, maxMemory: MAX_MEMORY } as const;
    await prepare({ model, out, name: NAME, targets: ["edge", "regional-cpu"], ...quick, ...edge });
    const artifact = await openFolder(out);
    const vectors = { edge: await vectorsOf(artifact, "wasm"), region: await vectorsOf(artifact, "ort-node") };
    const storage = await startObjectStorage();
    await publish(artifact, s3Publisher(storage.access));
    const proxy = await startFaultyProxy(storage.access.endpoint, SLOW_MS);
    const region = hasRegion ? await servedRegion([artifact]) : undefined;
    const models = s3Store({ ...storage.access, endpoint: proxy.url, timeoutMs: STORE_MS });
    const engine = await engineOnThisMachine("wasm");
    const settings = { models, model: NAME, engine, keys: false, log: false } as const;

    async function ask(app: ReturnType<typeof createEdgeApp>, text: Ids, pin: Tier | "auto"): Promise<Outcome> {
      const headers = { "content-type": "application/json", "x-bert-edge-tier": pin };
      const body = JSON.stringify({ inputs: [text] });
      const response = await app.request("/v1/embed", { method: "POST", headers, body });
      const { error, embeddings } = (await response.json()) as { error?: { code: string }; embeddings?: number[][] };
      if (error) return hasRegion ? { wrong: `${error.code}, although there is a region` } : { code: error.code };
      const tier = response.headers.get("x-bert-edge-tier") as Tier;
      const reason = response.headers.get("x-bert-edge-reason");
      if (tier === "region" && reason !== "edge-pages") return { wrong: `the region answers because of ${reason}` };
      const isRight = embeddings?.[0]?.map(Math.fround).join() === vectors[tier][texts.indexOf(text)];
      return isRight ? "new" : { wrong: `${tier} answers ${text} with another vector` };
    }

    return {
      async attempt(random) {
        const ways = region && { region: regionTier({ url: region.url, key: KEY }) };
        const app = createEdgeApp({ ...settings, ...ways });
        const [first, text] = [texts[0] as Ids, texts[1 + Math.floor(2 * random())] as Ids];
        // Loads the model, and reads the pages of another text.
        const before = await ask(app, first, "edge");
        // While the rest of the model arrives, a region may answer because the edge is cold.
        while (!(await app.request("/ready")).ok) await sleep(5);
        proxy.impose(fault, random);
        const outcome = await ask(app, text, "auto");
        proxy.impose(undefined);
        const recovered = (await ask(app, text, "edge")) === "new";
        return { outcome: before === "new" ? outcome : before, recovered };
      },
      async [Symbol.asyncDispose]() {
        await proxy.stop();
        await storage.stop();
        await region?.stop();
      },
    };
  },
});

/** Returns the bits of each text's vector. */
async function vectorsOf(artifact: PublishableArtifact, engine: "wasm" | "ort-node"): Promise<string[]> {
  await using model = await wholeModel(artifact, await engineOnThisMachine(engine));
  return (await model.call(embedCall(texts))).map((vector) => [...vector].join());
}

export const faultyPages: readonly Fault[] = (["HTTP 500", "too slow", "truncated", "corrupted"] as const).flatMap(
  (fault) => [failing(fault, false), failing(fault, true)],
);
