import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { exampleOf, exampleWorkers } from "./example-worker.ts";

const ORIGIN = "https://page.example";

/** An app that mounts `createEdgeApp`, which has more routes than `embeddings`. */
const withEdgeApp = `
import { wasmEngine } from "bert-edge/engine/wasm";
import relaxed from "bert-edge/kernels/relaxed.wasm";
import simd from "bert-edge/kernels/simd.wasm";
import { BertEdgeError, createEdgeApp } from "bert-edge/serve";
import { type R2Bucket, r2Store } from "bert-edge/storage/r2";
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";

type Env = { MODELS: R2Bucket; API_KEYS: string; SEARCH_TOKEN: string };
const bert = createEdgeApp<Env>({
  models: (env) => r2Store(env.MODELS),
  model: "bert-edge-mini",
  engine: wasmEngine({ relaxed, simd }),
  keys: (env) => env.API_KEYS.split(","),
});

const app = new Hono<{ Bindings: Env }>();
app.use(cors());
app.route("/", bert);
app.use("/search", (c, next) => bearerAuth<{ Bindings: Env }>({ token: c.env.SEARCH_TOKEN })(c, next));
app.post("/search", async (c) => {
  const { embeddings, tier } = await bert.embed(c, await c.req.text());
  return c.json({ query: Array.from(embeddings[0] ?? []), tier });
});
app.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse();
  const isOurs = error instanceof BertEdgeError;
  return c.json({ error: error.message }, isOurs && error.code.startsWith("input_") ? 400 : 500);
});
export default app;
`;

const start = exampleWorkers();

describe("the Worker in the package's README", () => {
  it("compares two texts for callers with a key", async () => {
    const code = exampleOf("sdk/README.md", "createEdgeApp<");
    const worker = await start(code, { bindings: { MODEL: "bert-edge-mini", API_KEYS: "key" } });
    onTestFinished(() => worker.dispose());
    const similarity = async (query: string, key: string) => {
      const url = new URL(`/v1/similar?${query}`, await worker.ready);
      const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
      return { status: response.status, ...((await response.json()) as object) };
    };
    expect(await similarity("a=where+is+the+mill&b=where+is+the+mill", "key")).toEqual({
      status: 200,
      similarity: expect.closeTo(1, 3),
    });
    expect(await similarity("a=where", "key")).toMatchObject({ status: 400, error: { code: "input_empty" } });
    expect(await similarity("a=where&b=where", "other")).toMatchObject({ status: 401, error: { code: "key_wrong" } });
  });
});

describe.each([
  ["the README's app with embeddings()", exampleOf("README.md", "app.route(")],
  ["an app with createEdgeApp()", withEdgeApp],
])("%s, in workerd", (_, code) => {
  let worker: Miniflare;
  let url: URL;
  beforeAll(async () => {
    worker = await start(code, { bindings: { API_KEYS: "key", SEARCH_TOKEN: "token" } });
    url = await worker.ready;
  });
  afterAll(() => worker?.dispose());

  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(new URL(path, url), { method: "POST", body, headers: { origin: ORIGIN, ...headers } });
  const json = { "content-type": "application/json" };
  const authorized = { authorization: "Bearer token" };

  it("answers its own route in process, with the vectors of the mounted route", async () => {
    const bert = new BertEdge({ baseURL: url.href, apiKey: "key" });
    const { embeddings } = await bert.embed(["where is the mill?"]);
    const response = await post("/search", "where is the mill?", authorized);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    const { query, tier } = (await response.json()) as { query: number[]; tier: string };
    expect([Float32Array.from(query), tier]).toEqual([embeddings[0], "edge"]);
  });

  it("answers texts that cannot be embedded with HTTP 400, and callers without its token with HTTP 401", async () => {
    const responses = [
      await post("/search", "", authorized),
      await post("/search", "word ".repeat(2_000), authorized),
      await post("/search", "where is the mill?"),
      await post("/search", "where is the mill?", { authorization: "Bearer key" }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 401, 401]);
    expect(responses.map(({ headers }) => headers.get("access-control-allow-origin"))).toEqual(Array(4).fill("*"));
    expect(await responses[0]?.json()).toEqual({ error: "Input 0 is empty." });
  });

  it.each(["/v1/embed", "/v1/embeddings", "/search"])(
    "answers a preflight request for %s without a key",
    async (path) => {
      const preflight = await fetch(new URL(path, url), {
        method: "OPTIONS",
        headers: {
          origin: ORIGIN,
          "access-control-request-method": "POST",
          "access-control-request-headers": "authorization,content-type,x-latency-budget-ms",
        },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
      expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
      expect(preflight.headers.get("access-control-allow-headers")).toBe(
        "authorization,content-type,x-latency-budget-ms",
      );
    },
  );

  it("lets pages read errors of the mounted routes, which still need the key", async () => {
    const response = await post("/v1/embed", JSON.stringify({ inputs: "a" }), json);
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([401, "*"]);
    expect(await response.json()).toMatchObject({ error: { code: "key_missing" } });
  });

  it("answers 2,048 texts, and names the one that is at fault", async () => {
    const inputs = Array.from({ length: 2_048 }, (_, i) => `where is mill ${i}?`);
    const headers = { ...json, authorization: "Bearer key" };
    const { embeddings } = (await (await post("/v1/embed", JSON.stringify({ inputs }), headers)).json()) as {
      embeddings: number[][];
    };
    expect(embeddings).toHaveLength(2_048);
    const [alone] = (await new BertEdge({ baseURL: url.href, apiKey: "key" }).embed(inputs[2_047] ?? "")).embeddings;
    expect(Float32Array.from(embeddings[2_047] ?? [])).toEqual(alone);

    const refused = await post("/v1/embed", JSON.stringify({ inputs: inputs.with(1_999, " ") }), headers);
    expect(await refused.json()).toMatchObject({ error: { code: "input_empty", index: 1_999 } });
  });
});
