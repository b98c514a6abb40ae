import type { IncomingMessage, Server } from "node:http";
import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import OpenAI from "openai";
import { afterEach, describe, expect, it } from "vitest";
import { BertEdge, type EmbedOptions } from "#sdk/client/index.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import type { Limits } from "#sdk/serve/limits.ts";
import { regionTier } from "#sdk/serve/region/region.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { fakeEngine, hiddenStatesOf, TINY, tinyStore } from "../fixtures/tiny-model.ts";

const DOCUMENTS = 10_000;
/** Texts per request: the default of `batchSize`. */
const BATCH = 128;
const documents = Array.from({ length: DOCUMENTS }, (_, i) => `document ${i}, page ${i % 7}`);
const inProcess = { env: {}, executionCtx: { waitUntil: () => {} } };

errorLog();
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Serves an app on a free port of this machine, and returns its URL. */
const listen = (app: { fetch: (request: Request, env: never) => Response | Promise<Response> }): Promise<string> =>
  new Promise((resolve) => {
    const server = serve({ fetch: app.fetch as never, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
      resolve(`http://127.0.0.1:${port}`),
    );
    servers.push(server as Server);
  });

/** Makes an edge app that counts how often each text is computed. */
async function countingEdge(limits: Partial<Limits> = {}) {
  const computed = new Map<string, number>();
  const models = await tinyStore();
  const run = async (sequences: readonly TokenIds[]) => {
    for (const ids of sequences) computed.set(ids.join(), (computed.get(ids.join()) ?? 0) + 1);
    return sequences.map(hiddenStatesOf);
  };
  const app = createEdgeApp({
    ...{ models, model: TINY.name, engine: fakeEngine({ run }), keys: ["k"] },
    // The tiny model claims to need more than a second for each text.
    cpuLimitMs: Number.POSITIVE_INFINITY,
    limits: { maxWaitMs: Number.POSITIVE_INFINITY, ...limits },
  });
  return { app, computed };
}

/** Computes the vectors of all documents with another app, in process. */
async function expectedVectors(): Promise<Float32Array[]> {
  const { app } = await countingEdge();
  const vectors: Float32Array[] = [];
  for (let at = 0; at < DOCUMENTS; at += 2_000) {
    vectors.push(...(await app.embed(inProcess, documents.slice(at, at + 2_000))).embeddings);
  }
  return vectors;
}

type Fault = "429" | "503" | "dropped before" | "dropped after";

describe("a corpus of 10,000 documents in one call, over HTTP", () => {
  it("survives HTTP 429, 503 and dropped connections, keeps its order, and computes nothing else again", async () => {
    const { app, computed } = await countingEdge();
    // Faults of the first request with this text.
    const faults = new Map<string | undefined, Fault>([
      [documents[5 * BATCH], "429"],
      [documents[20 * BATCH], "503"],
      [documents[40 * BATCH], "dropped before"],
      [documents[60 * BATCH], "dropped after"],
    ]);
    const requests: { inputs: string[]; at: number; fault: Fault | undefined }[] = [];
    const front = new Hono<{ Bindings: HttpBindings }>();
    front.post("/v1/embed", async (c) => {
      const { inputs } = (await c.req.raw.clone().json()) as { inputs: string[] };
      const again = requests.some((earlier) => earlier.inputs[0] === inputs[0]);
      const fault = again ? undefined : faults.get(inputs[0]);
      requests.push({ inputs, at: performance.now(), fault });
      if (fault === "429") return c.text("error code: 1015", 429, { "retry-after": "1" });
      if (fault === "503") return c.html("<h1>Service unavailable</h1>", 503);
      const drop = () => (c.env.incoming as IncomingMessage).socket.destroy();
      if (fault === "dropped before") {
        drop();
        return c.body(null);
      }
      const response = await app.fetch(c.req.raw, {});
      if (fault === "dropped after") drop();
      return response;
    });

    const client = new BertEdge({ baseURL: `${await listen(front)}/v1`, apiKey: "k" });
    const progress: Parameters<NonNullable<EmbedOptions["onProgress"]>>[0][] = [];
    const found = await client.embed(documents, { onProgress: (step) => progress.push(step) });

    expect(found.embeddings).toEqual(await expectedVectors());
    const batches = Math.ceil(DOCUMENTS / BATCH);
    expect(found.requests).toHaveLength(batches);
    expect(progress).toHaveLength(batches);
    expect(progress.at(-1)).toEqual({ done: DOCUMENTS, total: DOCUMENTS });
    expect(progress.map(({ done }) => done)).toEqual(progress.map(({ done }) => done).toSorted((a, b) => a - b));

    // Each fault has one retry, with the same texts.
    expect(requests).toHaveLength(batches + faults.size);
    const retries = requests
      .filter(({ fault }) => fault)
      .map((first) => {
        const again = requests.filter(({ inputs }) => inputs[0] === first.inputs[0]);
        expect(again.map(({ inputs }) => inputs)).toEqual([first.inputs, first.inputs]);
        return { ...first, afterMs: (again[1]?.at ?? 0) - first.at };
      });
    expect(retries.find(({ fault }) => fault === "429")?.afterMs).toBeGreaterThanOrEqual(1_000);

    // Only the request whose answer was lost is computed twice.
    const lost = retries.find(({ fault }) => fault === "dropped after")?.inputs.length;
    expect(computed.size).toBe(DOCUMENTS);
    expect([...computed.values()].filter((times) => times === 2)).toHaveLength(lost ?? 0);
    expect([...computed.values()].filter((times) => times > 2)).toEqual([]);
  });

  it.each([{ maxInputs: 50 }, { maxBodyBytes: 1_000 }])("keeps to lower limits: %j", async (limits) => {
    const { app, computed } = await countingEdge(limits);
    const client = new BertEdge({ baseURL: await listen(app), apiKey: "k" });
    const texts = documents.slice(0, 1_000);
    const { embeddings, requests } = await client.embed(texts);
    const { app: other } = await countingEdge();
    expect(embeddings).toEqual((await other.embed(inProcess, texts)).embeddings);
    expect(requests.length).toBeGreaterThan(1_000 / BATCH);
    expect([...computed.values()]).toEqual(Array(1_000).fill(1));
  });

  it("skips texts at fault, and says which", async () => {
    const { app, computed } = await countingEdge();
    const client = new BertEdge({ baseURL: await listen(app), apiKey: "k" });
    const long = "word ".repeat(TINY.maxTokens);
    const texts = documents.slice(0, 1_000).with(0, "").with(130, long).with(999, " ");
    const { embeddings, failed, requests } = await client.embed(texts, { onError: "skip" });
    expect(failed.map(({ index, error }) => [index, error.code])).toEqual([
      [0, "input_empty"],
      [130, "input_too_long"],
      [999, "input_empty"],
    ]);
    expect(failed[1]?.error.message).toMatch(/^Input 130 has at least /);
    expect(embeddings.flatMap((vector, index) => (vector ? [] : [index]))).toEqual([0, 130, 999]);
    expect(requests.reduce((sum, request) => sum + request.texts, 0)).toBe(997);
    expect([...computed.values()]).toEqual(Array(997).fill(1));
  });
});

describe("OpenAI's client, with 2,048 inputs over HTTP", () => {
  const input = documents.slice(0, 2_048);
  const ask = (baseURL: string, apiKey: string) =>
    new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, maxRetries: 0 }).embeddings
      .create({ model: TINY.name, input })
      .withResponse();

  async function region() {
    const engine = fakeEngine({ target: "regional-cpu" });
    return listen(createRegionApp({ models: await tinyStore(), model: TINY.name, engine, keys: ["r"] }));
  }

  it("gets all vectors in their order from the edge and from the region", async () => {
    const { app } = await countingEdge();
    const { embeddings: vectors } = await app.embed(inProcess, input);
    for (const [url, key] of [
      [await listen(app), "k"],
      [await region(), "r"],
    ] as const) {
      const { data } = await ask(url, key);
      expect(data.data.map(({ index }) => index)).toEqual([...input.keys()]);
      expect(data.data.map(({ embedding }) => Float32Array.from(embedding))).toEqual(vectors);
    }
  });

  it("gets them from the region if the edge would exceed its CPU limit", async () => {
    const tier = regionTier({ url: await region(), key: "r" });
    const models = await tinyStore();
    const app = createEdgeApp({ models, model: TINY.name, engine: fakeEngine(), keys: ["k"], region: tier });
    await app.embed(inProcess, ["starts loading the model"]);
    await expect.poll(async () => (await app.request("/ready")).status).toBe(200);
    const { data, response } = await ask(await listen(app), "k");
    expect(response.headers.get("x-bert-edge-tier")).toBe("region");
    expect(response.headers.get("x-bert-edge-reason")).toBe("edge-cpu-limit");
    expect(data.data).toHaveLength(2_048);
    const { app: other } = await countingEdge();
    const { embeddings: vectors } = await other.embed(inProcess, input);
    expect(data.data.map(({ embedding }) => Float32Array.from(embedding))).toEqual(vectors);
  });
});
