import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import {
  type FakeEngineOptions,
  fakeEngine,
  hiddenStatesOf,
  latch,
  TINY,
  tinyStore,
} from "#test/fixtures/tiny-model.ts";
import { createEdgeApp, type EdgeAppOptions } from "./edge-app.ts";
import { embeddings } from "./embedding-routes.ts";
import { regionTier } from "./region/region.ts";
import { createRegionApp } from "./region-app.ts";

const errors = errorLog();
const TEXT = "a text that nobody else may read";

async function optionsWith(changes: Partial<EdgeAppOptions<object>> = {}): Promise<EdgeAppOptions<object>> {
  const keys = [{ key: "secret-key", name: "web" }];
  return { models: await tinyStore(), model: TINY.name, engine: fakeEngine(), keys, ...changes };
}

const post = (inputs: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { authorization: "Bearer secret-key", "content-type": "application/json", ...headers },
  body: JSON.stringify({ inputs }),
});

describe('log: "requests"', () => {
  async function linesOf(
    paths: readonly [path: string, init?: RequestInit][],
    mounted = false,
    changes: Partial<EdgeAppOptions<object>> = {},
  ) {
    const printed = vi.spyOn(console, "log").mockReturnValue(undefined);
    const options = await optionsWith({ log: "requests", ...changes });
    const app = mounted ? new Hono().route("/", embeddings(options)) : createEdgeApp(options);
    for (const [path, init] of paths) await app.request(path, init, {});
    const lines = printed.mock.calls.map(([line]) => String(line));
    printed.mockRestore();
    return lines;
  }

  it.each([false, true])("prints one line a request, without texts and keys (mounted: %j)", async (mounted) => {
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const [line = "", ...others] = await linesOf(
      [["/v1/embed", post([TEXT, "to be"], { "x-request-id": "r-1", traceparent })]],
      mounted,
    );
    expect(others).toEqual([]);
    expect(JSON.parse(line)).toEqual({
      "bert-edge": "request",
      ...{ method: "POST", route: "/v1/embed", status: 200, key: "web" },
      ...{ model: expect.stringMatching(`^${TINY.name}@[0-9a-f]+$`), tier: "edge", reason: "only-tier", texts: 2 },
      ...{ tokens: expect.any(Number), requestId: "r-1", traceparent, elapsedMs: expect.any(Number) },
      ...{ timings: { queue: expect.any(Number), compute: expect.any(Number) }, decision: expect.any(Object) },
    });
    for (const secret of [TEXT, "to be", "secret-key"]) expect(line).not.toContain(secret);
  });

  it.each([false, true])("has the figures of a refusal (mounted: %j)", async (mounted) => {
    const [line = ""] = await linesOf([["/v1/embed", post([TEXT])]], mounted, { cpuLimitMs: 1 });
    expect(JSON.parse(line)).toMatchObject({
      ...{ status: 400, error: "request_too_costly" },
      decision: { wait: 0, compute: expect.any(Number), cpu: expect.any(Number), "cpu-limit": 1 },
    });
  });

  it("names errors, wrong keys and unknown paths, whose text is not printed", async () => {
    const lines = await linesOf([
      ["/v1/embed", post("", { "x-request-id": "r-1" })],
      ["/v1/embed", post("a", { authorization: "Bearer wrong-key", "x-request-id": "r-2" })],
      [`/${encodeURIComponent(TEXT)}`, { headers: { "x-request-id": "r-3" } }],
      ["/v1/embed", { headers: { authorization: "Bearer secret-key", "x-request-id": "r-4" } }],
    ]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { requestId: "r-1", status: 400, error: "input_empty", key: "web", route: "/v1/embed" },
      { requestId: "r-2", status: 401, error: "key_wrong" },
      { requestId: "r-3", method: "GET", status: 404, error: "route_unknown" },
      { requestId: "r-4", status: 405, error: "method_unsupported", key: "web" },
    ]);
    expect(lines.join()).not.toContain("nobody");
    expect(lines.join()).not.toContain("wrong-key");
  });
});

it("writes a point of every request to Analytics Engine, and none without the binding", async () => {
  const points: { indexes: string[]; blobs: string[]; doubles: number[] }[] = [];
  const dataset = { writeDataPoint: (point: (typeof points)[number]) => void points.push(point) };
  type Env = { REQUESTS?: typeof dataset };
  const app = createEdgeApp<Env>({ ...(await optionsWith()), analytics: ({ REQUESTS }: Env) => REQUESTS });
  await app.request("/v1/embed", post([TEXT]), {});
  expect(points).toEqual([]);
  await app.request("/v1/embed", post([TEXT], { "x-request-id": "r-1" }), { REQUESTS: dataset });
  await app.request("/v1/embed", post(""), { REQUESTS: dataset });
  const [good, bad] = points;
  expect([good?.indexes, bad?.indexes]).toEqual([["web"], ["web"]]);
  expect(good?.blobs.slice(0, 5)).toEqual(["/v1/embed", "POST", "", "edge", "only-tier"]);
  expect([good?.blobs[5], good?.blobs[6]]).toEqual([expect.stringContaining(`${TINY.name}@`), "r-1"]);
  expect([good?.doubles[0], good?.doubles[1]]).toEqual([200, 1]);
  expect([bad?.blobs[2], bad?.doubles[0]]).toEqual(["input_empty", 400]);
  expect(JSON.stringify(points)).not.toContain("nobody");
});

describe("cors", () => {
  const preflight = (origin: string) => ({
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
  });
  const page = "https://page.example";

  it.each([
    [true, "*", "*"],
    [page, page, null],
    [[page, "https://two.example"], page, null],
  ] as const)(
    "%j lets pages call, also after errors, and answers preflight requests without a key",
    async (cors, own, other) => {
      for (const app of [createEdgeApp(await optionsWith({ cors })), embeddings(await optionsWith({ cors }))]) {
        const asked = await app.request("/v1/embed", preflight(page), {});
        expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, own]);
        expect(asked.headers.get("access-control-allow-headers")).toBe("authorization");
        for (const [init, status] of [
          [post("a", { origin: page }), 200],
          [post("a", { origin: page, authorization: "" }), 401],
        ] as const) {
          const { status: answered, headers } = await app.request("/v1/embed", init, {});
          expect([answered, headers.get("access-control-allow-origin")]).toEqual([status, own]);
          expect(headers.get("access-control-expose-headers")).toContain("x-bert-edge-predicted-ms");
        }
        const foreign = await app.request("/v1/embed", post("a", { origin: "https://three.example" }), {});
        expect(foreign.headers.get("access-control-allow-origin")).toBe(other);
      }
    },
  );

  it("is off by default", async () => {
    const app = createEdgeApp(await optionsWith());
    const { headers, status } = await app.request("/v1/embed", preflight(page), {});
    expect([status, headers.get("access-control-allow-origin")]).toEqual([401, null]);
  });
});

describe("rateLimit", () => {
  const statuses = async (app: ReturnType<typeof createEdgeApp<object>>, headers: Record<string, string>[]) => {
    const found: [number, string | null][] = [];
    for (const each of headers) {
      const response = await app.request("/v1/embed", post("a", each), {});
      found.push([response.status, response.headers.get("retry-after")]);
    }
    return found;
  };

  it("counts the requests of each key by itself", async () => {
    const keys = [{ key: "secret-key", name: "web" }, "other"];
    const app = createEdgeApp(await optionsWith({ keys, rateLimit: { requestsPerMinute: 1 } }));
    expect(await statuses(app, [{}, {}, { authorization: "Bearer other" }])).toEqual([
      ...[
        [200, null],
        [429, "60"],
        [200, null],
      ],
    ]);
  });

  it("does not believe an address header outside of Cloudflare", async () => {
    const app = createEdgeApp(await optionsWith({ keys: false, rateLimit: { requestsPerMinute: 1 } }));
    const from = ["1.1.1.1", "2.2.2.2"].map((address) => ({ "cf-connecting-ip": address }));
    expect((await statuses(app, from)).map(([status]) => status)).toEqual([200, 429]);
  });

  it("asks the binding with the key's name, and counts here when it fails", async () => {
    const asked: string[] = [];
    let answer = async () => ({ success: true });
    const limit = ({ key }: { key: string }) => {
      asked.push(key);
      return answer();
    };
    const rateLimit = { requestsPerMinute: 1, binding: { limit }, periodSeconds: 10 } as const;
    const app = createEdgeApp(await optionsWith({ rateLimit: () => rateLimit }));
    expect(await statuses(app, [{}, {}])).toEqual([
      [200, null],
      [200, null],
    ]);
    answer = async () => ({ success: false });
    expect(await statuses(app, [{}])).toEqual([[429, "10"]]);
    answer = () => Promise.reject(new Error("down"));
    expect((await statuses(app, [{}, {}])).map(([status]) => status)).toEqual([200, 429]);
    expect(asked).toEqual(Array(5).fill("key:web"));
    expect(errors).toHaveBeenCalled();
  });

  it("is setting_invalid if its figure is not a number of 1 or more", async () => {
    const app = createEdgeApp(await optionsWith({ rateLimit: { requestsPerMinute: Number.NaN } }));
    expect((await app.request("/v1/embed", post("a"), {})).status).toBe(503);
  });
});

describe("GET /v1/models", () => {
  it("lists the models as OpenAI does, to callers with a key", async () => {
    const app = createEdgeApp(await optionsWith({ model: ["first", "second"] }));
    expect((await app.request("/v1/models", {}, {})).status).toBe(401);
    const response = await app.request("/v1/models/", { headers: { authorization: "Bearer secret-key" } }, {});
    expect(await response.json()).toEqual({
      object: "list",
      data: ["first", "second"].map((id) => ({ id, object: "model", created: 0, owned_by: "bert-edge" })),
    });
  });
});

describe("GET /info", () => {
  it("describes the model that the path names", async () => {
    const app = createEdgeApp(await optionsWith({ keys: false }));
    const info = async (path: string) => (await app.request(path, {}, {})).json();
    expect(await info(`/models/${TINY.name}/info`)).toEqual(await info("/info"));
    expect(await info("/models/other/info")).toMatchObject({ error: { code: "model_unknown" } });
    expect(await info(`/models/${TINY.name}/v1/models`)).toEqual(await info("/v1/models"));
    expect(await info(`/models/${TINY.name}/v1/models/${TINY.name}`)).toEqual(await info(`/v1/models/${TINY.name}`));
  });

  it("needs a key, and says what is served, with TEI's names", async () => {
    const app = createEdgeApp(await optionsWith({ limits: { maxInputs: 7 } }));
    for (const path of ["/info", "/info/"]) expect((await app.request(path, {}, {})).status).toBe(401);
    const response = await app.request("/info", { headers: { authorization: "Bearer secret-key" } }, {});
    expect([response.status, await response.json()]).toMatchObject([
      200,
      {
        ...{ model_id: TINY.name, model_sha: expect.stringMatching(/^[0-9a-f]+$/), task: "embed", tier: "edge" },
        ...{ dimensions: TINY.dimensions, max_input_length: TINY.maxTokens, max_client_batch_size: 7 },
        ...{ model_type: { embedding: { pooling: "mean" } } },
      },
    ]);
  });

  it("says how many regions can answer, whether browsers can load the weights, and what fits the CPU limit", async () => {
    const infoOf = async (options: Partial<EdgeAppOptions<object>>) => {
      const app = createEdgeApp(await optionsWith({ keys: false, ...options }));
      return (await (await app.request("/info", {}, {})).json()) as Readonly<Record<string, unknown>>;
    };
    expect(await infoOf({})).toMatchObject({ regions: 0, artifacts: false });
    const region = regionTier({ url: "https://region.test", key: "k" });
    const whole = await infoOf({ artifacts: "key", region: [region, region], cpuLimitMs: Number.POSITIVE_INFINITY });
    expect(whole).toMatchObject({ regions: 2, artifacts: true });
    expect(Object.keys(whole)).not.toContain("cpu_limit_texts");
    // A text of 16 tokens takes 1,000 + 16 · 100 ms.
    for (const [cpuLimitMs, texts] of [
      [2_599, 0],
      [2_600, 1],
      [7_799, 2],
    ] as const)
      expect(await infoOf({ cpuLimitMs })).toMatchObject({ cpu_limit_ms: cpuLimitMs, cpu_limit_texts: texts });
  });
});

describe("GET /metrics", () => {
  it("exists when it is asked for, and says at the edge that it is one isolate", async () => {
    expect((await createEdgeApp(await optionsWith()).request("/metrics", {}, {})).status).toBe(404);
    const text = await (await createEdgeApp(await optionsWith({ metrics: true })).request("/metrics", {}, {})).text();
    expect(text).toMatch(/^# These are the figures of one isolate\..*\n/);
    expect(text).toContain("bert_edge_queue_wait_seconds 0");
    const busy = createEdgeApp(await optionsWith({ metrics: true }));
    await busy.request("/v1/embed", post([TEXT]), {});
    expect(await (await busy.request("/metrics", {}, {})).text()).toContain(
      'bert_edge_requests_total{tier="edge",reason="only-tier"} 1',
    );
    const app = createEdgeApp(await optionsWith({ metrics: true, cpuLimitMs: 1, log: false }));
    await app.request("/v1/embed", post([TEXT]), {});
    expect(await (await app.request("/metrics", {}, {})).text()).toContain(
      'bert_edge_refusals_total{code="request_too_costly"} 1',
    );
    const { models, model, engine } = { ...(await optionsWith()), models: await tinyStore(), model: TINY.name };
    const region = createRegionApp({ models, model, engine, keys: ["k"], metrics: true });
    expect(await (await region.request("/metrics")).text()).not.toContain("isolate");
  });
});

describe("the limits of a key", () => {
  it("are the same for the models' files as for other routes", async () => {
    const keys = [{ key: "secret-key", name: "web", requestsPerMinute: 2 }];
    const app = createEdgeApp(await optionsWith({ keys, artifacts: "key" }));
    const { headers } = post("");
    const statuses: number[] = [];
    for (const path of ["/info", "/artifacts/x", "/artifacts/x", "/info"]) {
      statuses.push((await app.request(path, { headers }, {})).status);
    }
    expect(statuses).toEqual([expect.any(Number), 404, 429, 429]);
  });

  it.each([
    ["tokensPerMinute", 2],
    ["textsPerMinute", 10],
  ])("%s counts work when it begins, and once", async (limit, perMinute) => {
    const begun = latch();
    const end = latch();
    const run: FakeEngineOptions["run"] = async (sequences) => {
      begun.resolve();
      await end.promise;
      return sequences.map(hiddenStatesOf);
    };
    const keys = [{ key: "secret-key", name: "web", [limit]: perMinute }];
    const app = createEdgeApp(await optionsWith({ keys, engine: fakeEngine({ run }) }));
    const caller = new AbortController();
    const first = app.request("/v1/embed", { ...post(Array(15).fill("to be")), signal: caller.signal }, {});
    await begun.promise;
    caller.abort();
    // The caller has gone, and what runs after its request may never run.
    const { status, headers } = await app.request("/v1/embed", post("a"), {});
    expect(status).toBe(429);
    end.resolve();
    await first;
    // 15 texts are 5 too many for half a minute.
    if (limit === "textsPerMinute") {
      const later = await app.request("/v1/embed", post("a"), {});
      for (const each of [headers, later.headers])
        expect(Number(each.get("retry-after-ms"))).toBeLessThanOrEqual(30_000);
    }
  });
});
