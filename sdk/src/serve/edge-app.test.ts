import { Hono } from "hono";
import { cors } from "hono/cors";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeEngine, latch, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { httpSurfaceSuite } from "#test/suites/http-surface.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { createEdgeApp } from "./edge-app.ts";
import { regionTier } from "./region/region.ts";
import { createRegionApp } from "./region-app.ts";

httpSurfaceSuite("createEdgeApp", "edge", ({ store, engine, keys, limits }) => {
  const app = createEdgeApp({
    models: () => store,
    model: () => TINY.name,
    engine: fakeEngine(engine),
    keys: () => keys,
    limits,
  });
  return async (request) => app.fetch(request, {});
});

const embed = (budget?: string) =>
  new Request("http://edge.test/v1/embed", {
    method: "POST",
    headers: {
      authorization: "Bearer k",
      "content-type": "application/json",
      ...(budget && { "x-latency-budget-ms": budget }),
    },
    body: '{"inputs": "to be"}',
  });

describe("createEdgeApp", () => {
  it("reads its environment once, with the first request", async () => {
    const store = await tinyStore();
    const models = vi.fn((_: { name: string }) => store);
    const app = createEdgeApp({
      models,
      model: ({ name }) => name,
      engine: fakeEngine(),
      keys: () => ["k"],
    });
    expect(models).not.toHaveBeenCalled();
    const env = { name: TINY.name };
    expect((await app.fetch(embed(), env)).status).toBe(200);
    expect((await app.fetch(embed(), env)).status).toBe(200);
    expect(models).toHaveBeenCalledExactlyOnceWith(env);
  });

  it("passes background work to waitUntil, and works without it too", async () => {
    const region = await regionOf(await tinyStore());
    const slow = latch();
    const app = createEdgeApp({
      models: () => store,
      model: () => TINY.name,
      engine: fakeEngine({ onLoad: () => slow.promise }),
      keys: () => ["k"],
      region: () => region,
    });
    const store = await tinyStore();
    const work: Promise<unknown>[] = [];
    const waitUntil = (promise: Promise<unknown>) => void work.push(promise);
    const context = { waitUntil, passThroughOnException() {}, props: {} };
    const cold = await app.fetch(embed(), {}, context);
    expect([cold.headers.get("x-bert-edge-tier"), cold.headers.get("x-bert-edge-reason")]).toEqual([
      "region",
      "edge-cold",
    ]);
    // One promise is the probe of the region, the other is the load of the model.
    expect(work).toHaveLength(2);
    slow.resolve();
    await Promise.all(work);
    const warm = await app.fetch(embed(), {});
    expect([warm.headers.get("x-bert-edge-tier"), warm.headers.get("x-bert-edge-reason")]).toEqual([
      "edge",
      "no-budget",
    ]);
  });

  it("passes on the region's answer when its CPU limit or the budget requires the region", async () => {
    const store = await tinyStore();
    const region = await regionOf(store);
    const options = {
      models: () => store,
      model: () => TINY.name,
      engine: fakeEngine(),
      keys: () => ["k"],
      region: () => region,
    };
    const reasonOf = async (app: ReturnType<typeof createEdgeApp>, budget?: string) => {
      // The first request starts loading the model.
      await app.fetch(embed(), {});
      await waitFor(async () => expect((await app.fetch(new Request("http://edge.test/ready"), {})).status).toBe(200));
      const response = await app.fetch(embed(budget), {});
      expect(await response.json()).toMatchObject({ tier: response.headers.get("x-bert-edge-tier") });
      return response.headers.get("x-bert-edge-reason");
    };
    expect(await reasonOf(createEdgeApp({ ...options, cpuLimitMs: 1_399 }))).toBe("edge-cpu-limit");
    expect(await reasonOf(createEdgeApp({ ...options }), "1300")).toBe("edge-over-budget");
    expect(await reasonOf(createEdgeApp({ ...options }), "90000")).toBe("within-budget");
  });

  it.each(["cold", "warm"])(
    "refuses invalid requests before it runs the model or asks the region, when %s",
    async (state) => {
      const store = await tinyStore();
      const engine = fakeEngine(state === "cold" ? { onLoad: () => new Promise(() => {}) } : {});
      const asked: string[] = [];
      const region = regionTier({
        url: "http://region.test",
        key: "region-key",
        fetch: (async ({ url }: Request) => {
          asked.push(url);
          return Response.json({ status: "ok" });
        }) as typeof fetch,
      });
      const keys = () => ["k"];
      const app = createEdgeApp({ models: () => store, model: () => TINY.name, engine, keys, region: () => region });
      if (state === "warm") {
        const ready = async () => (await app.fetch(new Request("http://edge.test/ready"), {})).status;
        await waitFor(async () => expect(await ready()).toBe(200));
      }
      const refusals: [code: string, path: string, json: object, budget?: string][] = [
        ["input_empty", "/v1/embed", { inputs: [" "] }],
        ["too_many_inputs", "/v1/embed", { inputs: Array(2_049).fill("a") }],
        ["model_unknown", "/v1/embed", { inputs: "a", model: "other" }],
        ["request_invalid", "/v1/embed", { inputs: "a", encoding_format: "int8" }],
        ["budget_invalid", "/v1/embed", { inputs: "a" }, "soon"],
        ["dimensions_unsupported", "/v1/embeddings", { input: "a", model: TINY.name, dimensions: 256 }],
      ];
      for (const [code, path, json, budget] of refusals) {
        const request = new Request(new URL(path, "http://edge.test"), embed(budget ?? "1"));
        const response = await app.fetch(new Request(request, { body: JSON.stringify(json) }), {});
        expect(await response.json()).toMatchObject({ error: { code } });
      }
      expect(asked.filter((url) => !url.endsWith("/ready"))).toEqual([]);
      expect(engine.sessions.map(({ runs }) => runs)).toEqual(state === "warm" ? [0] : []);
    },
  );

  const missing = new BertEdgeError("setting_invalid", "The setting S3_BUCKET is missing.", { hint: "Set S3_BUCKET." });
  it.each<[what: string, option: "models" | "keys" | "model", fault: Error, message: string]>([
    ["a missing setting", "models", missing, missing.message],
    [
      "an option whose function fails",
      "models",
      new TypeError("SECRET is not a URL"),
      "The option models could not be read.",
    ],
    ["the keys", "keys", new TypeError("of undefined (reading 'split') SECRET"), "The option keys could not be read."],
    ["the model", "model", new TypeError("SECRET"), "The option model could not be read."],
    ["keys that are a promise", "keys", new TypeError("SECRET"), "The option keys could not be read."],
  ])("names %s in every answer, hides other errors, and stays healthy", async (what, option, fault, message) => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    onTestFinished(() => log.mockRestore());
    const fail = () => {
      if (what.endsWith("promise")) return Promise.reject(fault);
      throw fault;
    };
    const settings = { models: await tinyStore(), model: TINY.name, engine: fakeEngine(), keys: ["k"] };
    const app = createEdgeApp({ ...settings, [option]: fail });
    // Nobody needs a key to ask whether the model is ready.
    const ready = option === "keys" ? [] : [new Request("http://edge.test/ready")];
    for (const request of [embed(), embed(), ...ready]) {
      const response = await app.fetch(request, {});
      const text = await response.text();
      expect([response.status, JSON.parse(text)]).toMatchObject([503, { error: { code: "setting_invalid", message } }]);
      expect(text).not.toContain("SECRET");
    }
    expect(log.mock.calls.some((parts) => parts.includes(fault))).toBe(fault !== missing);
    expect((await app.fetch(new Request("http://edge.test/health"), {})).status).toBe(200);
  });

  it("asks the region for the precision that the edge lacks, and passes on its refusal", async () => {
    vi.spyOn(console, "log").mockReturnValue(undefined);
    const store = await tinyStore();
    const region = await regionOf(store);
    const options = { models: store, model: TINY.name, engine: fakeEngine(), keys: ["k"], region };
    const app = createEdgeApp(options);
    const precise = (precision: string) => {
      const request = embed();
      request.headers.set("x-bert-edge-precision", precision);
      return app.fetch(request, {});
    };
    await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
    expect((await precise("int8")).headers.get("x-bert-edge-tier")).toBe("edge");
    // The region of this test computes with int8 too.
    const refused = await precise("fp16");
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "precision_unavailable" } }]);
  });

  it.each<[string, string, number]>([
    ["a missing key", "/v1/embed", 401],
    ["an unknown route under /v1/", "/v1/nothing", 401],
    ["an unknown route elsewhere", "/nothing", 404],
  ])("names the answer to %s", async (_, path, status) => {
    const options = { models: await tinyStore(), model: TINY.name, engine: fakeEngine(), keys: ["k"] };
    const response = await createEdgeApp(options).request(path, { method: "POST", headers: { "x-request-id": "r-1" } });
    expect([response.status, response.headers.get("x-request-id")]).toEqual([status, "r-1"]);
  });

  describe("defaults", () => {
    const options = async () => ({ models: await tinyStore(), model: TINY.name, engine: fakeEngine() });
    const wrong = [{ tier: "Edge" }, { tier: null }, { latencyBudgetMs: Number.NaN }, { latencyBudgetMs: -5 }];

    it.each(wrong)("refuses %j when the app is made", async (defaults) => {
      const settings = { ...(await options()), keys: ["k"], defaults: defaults as object };
      expect(() => createEdgeApp(settings)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
    });

    it.each(wrong)("refuses %j of a key, and shows no key", async (defaults) => {
      const keys = [{ key: "secret-key", ...(defaults as object) }];
      const settings = await options();
      expect(() => createEdgeApp({ ...settings, keys })).toThrow(expect.objectContaining({ code: "setting_invalid" }));
      const response = await createEdgeApp({ ...settings, keys: () => keys }).fetch(embed(), {});
      const text = await response.text();
      expect([response.status, JSON.parse(text)]).toMatchObject([503, { error: { code: "setting_invalid" } }]);
      expect(text).not.toContain("secret-key");
    });

    it.each([Number.NaN, 0, -5])("refuses the CPU limit %d", async (cpuLimitMs) => {
      const settings = { ...(await options()), keys: ["k"], cpuLimitMs };
      expect(() => createEdgeApp(settings)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
    });

    it("of the deployment count when a key leaves them undefined", async () => {
      const keys = [{ key: "k", tier: undefined, latencyBudgetMs: undefined }];
      const app = createEdgeApp({ ...(await options()), keys, defaults: { tier: "edge", latencyBudgetMs: 60_000 } });
      const { headers } = await app.fetch(embed(), {});
      expect(headers.get("x-bert-edge-reason")).toBe("pinned");
      expect(Number(headers.get("x-latency-budget-remaining-ms"))).toBeLessThan(60_000);
    });

    it("of the deployment count in process, and the call can lift them", async () => {
      const app = createEdgeApp({ ...(await options()), keys: ["k"], defaults: { tier: "edge" } });
      const c = { env: {}, executionCtx: { waitUntil() {} } };
      expect(await app.embed(c, ["to be"])).toMatchObject({ reason: "pinned" });
      expect(await app.embed(c, ["to be"], { tier: "auto" })).toMatchObject({ reason: "only-tier" });
      await expect(app.embed(c, ["to be"], { tier: "Edge" as "edge" })).rejects.toMatchObject({
        code: "tier_invalid",
        message: 'The option tier is "Edge".',
      });
    });
  });

  it("can be mounted behind the middleware of another app, and leaves that app's routes and errors alone", async () => {
    const store = await tinyStore();
    const app = new Hono();
    app.use(cors());
    app.onError((error, c) => c.text(`mine: ${error.message}`, 500));
    app.notFound((c) => c.text("my own page", 404));
    const keys = () => ["k"];
    app.route("/", createEdgeApp({ models: () => store, model: () => TINY.name, engine: fakeEngine(), keys }));
    app.get("/v1/own", () => Promise.reject(new Error("inside")));

    const preflight = await app.request("/v1/embed", { method: "OPTIONS" });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    for (const [request, status] of [
      [embed(), 200],
      [embed("soon"), 400],
      [new Request("http://edge.test/health"), 200],
    ] as const) {
      const response = await app.fetch(request);
      expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([status, "*"]);
    }
    const own = await app.request("/v1/own", { headers: { authorization: "Bearer k" } });
    expect([own.status, await own.text()]).toEqual([500, "mine: inside"]);
    expect(await (await app.request("/elsewhere")).text()).toBe("my own page");
  });

  it("takes 2,048 inputs like OpenAI, and 4 MB, by default", async () => {
    const store = await tinyStore();
    const settings = { models: () => store, model: () => TINY.name, engine: fakeEngine(), keys: () => ["k"] };
    // The measured time of the tiny model is more than a second for each text.
    const app = createEdgeApp({ ...settings, cpuLimitMs: 1e9 });
    const post = (inputs: unknown) =>
      app.fetch(new Request(embed(), { body: JSON.stringify({ inputs, truncate: true }) }), {});
    expect((await post(Array(2_048).fill("a"))).status).toBe(200);
    expect((await post(Array(2_049).fill("a"))).status).toBe(400);
    expect((await post("a".repeat(3_999_900))).status).toBe(200);
    expect((await post("a".repeat(4_000_000))).status).toBe(413);
  });
});

/** Connects to a region that has loaded its model. */
async function regionOf(store: Awaited<ReturnType<typeof tinyStore>>) {
  const app = createRegionApp({
    models: store,
    model: TINY.name,
    engine: fakeEngine({ target: "regional-cpu" }),
    keys: ["region-key"],
  });
  await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
  return regionTier({
    url: "http://region.test",
    key: "region-key",
    fetch: (async (request: Request) => app.fetch(request)) as typeof fetch,
  });
}
