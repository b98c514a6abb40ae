import type { Context } from "hono";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { fakeJobs } from "#test/fixtures/fake-jobs.ts";
import { noHold } from "#test/fixtures/no-hold.ts";
import { tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../artifact/error.ts";
import type { ErrorCode } from "../artifact/error-codes.ts";
import type { Model } from "../runtime/model.ts";
import { createApp } from "./app.ts";
import type { BulkJob } from "./bulk/job.ts";
import type { ApiKey, CallDefaults } from "./call-defaults.ts";
import { checkQuery } from "./check-query.ts";
import { errorStatus, type HttpErrorCode } from "./contract/errors.ts";
import { callersOf } from "./keys/key-ring.ts";
import { defaultLimits } from "./limits.ts";
import { servedNames } from "./served-names.ts";
import type { TaskAnswer, TaskQuery, TaskService } from "./service.ts";

const log = errorLog();

const LIMITS = { ...defaultLimits, maxInputs: 2, maxBodyBytes: 1_000, maxWaitMs: 1_000 };
const answer: TaskAnswer<unknown> = {
  result: [Float32Array.of(0.6, 0.8)],
  tokens: 3,
  model: "tiny",
  version: "0123456789ab",
  tier: "edge",
  provider: "fake",
  reason: "no-budget",
  predictedMs: 1.234,
  timings: { compute: 1.5 },
  decision: { budget: 50, wait: 0, compute: 1.234, hedge: true },
};

/** A job whose input is not the one in the bucket. */
const begunJob: BulkJob = {
  format: 1,
  name: "begun",
  run: "1",
  model: "tiny@1",
  input: { etag: "other", bytes: 10 },
  encodingFormat: "float",
  truncate: false,
  parts: { lines: 1, costMs: 1, fit: { base: 1, perToken: 1, perSquare: 0 }, maxTokens: 16 },
  started: "2026-01-01T00:00:00.000Z",
  expires: "2126-01-01T00:00:00.000Z",
};

/** Makes an app with a fake service that records its queries. */
function setUp(
  answerTo: (query: TaskQuery<unknown>) => Promise<TaskAnswer<unknown>> = async () => answer,
  keys: readonly ApiKey[] = ["k"],
  defaults: CallDefaults = {},
  changes: Partial<TaskService> = {},
) {
  const queries: TaskQuery<unknown>[] = [];
  const service: TaskService = {
    regions: 0,
    hold: () => noHold,
    bytesInFlight: () => 0,
    admit: () => {},
    answer<R>(query: TaskQuery<R>) {
      queries.push(query);
      return answerTo(query) as Promise<TaskAnswer<R>>;
    },
    using: (_, work) => work({ manifest: { name: "tiny", task: "embed" }, version: "1", measurements: {} } as Model),
    ready: () => undefined,
    warm: () => {},
    failure: () => undefined,
    arrival: (now) => ({ at: now, errorMs: 0, busyMs: 0 }),
    served: servedNames(["tiny"]),
    memoryBytes: () => 0,
    queueMs: () => 0,
    totals: { answers: new Map(), refusals: new Map() },
    ...changes,
  };
  const app = createApp({
    service: () => service,
    callers: callersOf(() => keys),
    limits: LIMITS,
    tier: "edge",
    defaults,
    cpuLimitMs: 30_000,
    operations: {},
    page: undefined,
    artifacts: undefined,
    jobs: () => fakeJobs({ "jobs/begun/input.jsonl": "", "jobs/begun/job.json": JSON.stringify(begunJob) }),
  });
  const get = (path: string) => app.request(path, { headers: { authorization: "Bearer k" } });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    app.request(path, {
      method: "POST",
      headers: { authorization: "Bearer k", "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { app, get, post, queries };
}

describe("the error codes of the HTTP contract", () => {
  const checked = async (query: TaskQuery<unknown>) => {
    checkQuery(query, LIMITS);
    return answer;
  };
  const failing = (code: ErrorCode) => () => Promise.reject(new BertEdgeError(code, "Inside."));
  const embed = (json: unknown, headers?: Record<string, string>) => setUp(checked).post("/v1/embed", json, headers);

  /** For each error code, a request that causes it. The type requires a request for every code. */
  const reached: Record<HttpErrorCode, () => Response | Promise<Response>> = {
    request_invalid: () => embed({ inputs: 1 }),
    input_empty: () => embed({ inputs: " " }),
    too_many_inputs: () => embed({ inputs: ["a", "b", "c"] }),
    input_too_long: () => setUp(failing("input_too_long")).post("/v1/embed", { inputs: "a" }),
    offsets_unsupported: () => setUp(failing("offsets_unsupported")).post("/v1/tag", { inputs: "a" }),
    pairs_unsupported: () => setUp(failing("pairs_unsupported")).post("/v1/classify", { inputs: "a" }),
    prompt_unknown: () => setUp(failing("prompt_unknown")).post("/v1/embed", { inputs: "a" }),
    task_unsupported: () => setUp(failing("task_unsupported")).post("/v1/embed", { inputs: "a" }),
    dimensions_unsupported: () =>
      setUp(failing("dimensions_unsupported")).post("/v1/embeddings", { input: "a", model: "tiny", dimensions: 3 }),
    budget_invalid: () => embed({ inputs: "a" }, { "x-latency-budget-ms": "soon" }),
    key_missing: () => embed({ inputs: "a" }, { authorization: "" }),
    key_wrong: () => embed({ inputs: "a" }, { authorization: "Bearer other" }),
    model_unknown: () => setUp(failing("model_unknown")).post("/v1/embed", { inputs: "a", model: "other" }),
    route_unknown: () => setUp().post("/v1/nothing", {}),
    method_unsupported: () => setUp().get("/v1/embed"),
    rate_limited: async () => {
      const { post } = setUp(undefined, [{ key: "k", requestsPerMinute: 1 }]);
      await post("/v1/embed", { inputs: "a" });
      return post("/v1/embed", { inputs: "a" });
    },
    body_too_large: () => embed({ inputs: "a".repeat(LIMITS.maxBodyBytes) }),
    body_too_slow: () => setUp(failing("body_too_slow")).post("/v1/embed", { inputs: "a" }),
    content_type_unsupported: () => embed({ inputs: "a" }, { "content-type": "text/plain" }),
    internal: () => setUp(() => Promise.reject(new Error("Inside."))).post("/v1/embed", { inputs: "a" }),
    keys_not_configured: () => setUp(checked, []).post("/v1/embed", { inputs: "a" }),
    setting_invalid: () => setUp(failing("setting_invalid")).post("/v1/embed", { inputs: "a" }),
    overloaded: () => setUp(failing("overloaded")).post("/v1/embed", { inputs: "a" }),
    budget_exceeded: () => setUp(failing("budget_exceeded")).post("/v1/embed", { inputs: "a" }),
    precision_unavailable: () => embed({ inputs: "a" }, { "x-bert-edge-precision": "int1" }),
    request_too_costly: () => setUp(failing("request_too_costly")).post("/v1/embed", { inputs: "a" }),
    too_many_page_reads: () => setUp(failing("too_many_page_reads")).post("/v1/embed", { inputs: "a" }),
    tier_invalid: () => embed({ inputs: "a" }, { "x-bert-edge-tier": "moon" }),
    tier_missing: () => setUp(failing("tier_missing")).post("/v1/embed", { inputs: "a" }),
    tier_unavailable: () => setUp(failing("tier_unavailable")).post("/v1/embed", { inputs: "a" }),
    job_changed: () => setUp().post("/v1/jobs/begun", {}),
    job_incomplete: () => setUp().get("/v1/jobs/begun/results"),
    job_unknown: () => setUp().get("/v1/jobs/other"),
    model_unavailable: () => setUp(failing("storage_unavailable")).post("/v1/embed", { inputs: "a" }),
  };

  it.each(Object.entries(reached))("a request can cause %s, which has its status and a message", async (code, send) => {
    const response = await send();
    expect(response.status).toBe(errorStatus[code as HttpErrorCode]);
    expect(await response.json()).toMatchObject({ error: { code, message: expect.stringMatching(/./) } });
  });
});

describe("POST /v1/embed", async () => {
  const { manifest } = await tinyArtifact();

  it("passes the fields of the body to the service", async () => {
    const { post, queries } = setUp();
    await post("/v1/embed", { inputs: ["a", "b"], truncate: true, model: "tiny" }, { "x-latency-budget-ms": "30000" });
    const { deadline, signal, trace, call, model } = queries[0] as TaskQuery<unknown>;
    expect(model).toBe("tiny");
    expect(call.on(manifest)).toMatchObject({ inputs: ["a", "b"], truncate: true });
    expect(signal?.aborted).toBe(false);
    expect(trace?.requestId).toMatch(/./);
    expect(deadline.remainingMs()).toBeLessThanOrEqual(30_000);
    expect(queries).toHaveLength(1);
  });

  it("accepts a single string, and by default neither truncates nor names a model", async () => {
    const { post, queries } = setUp();
    await post("/v1/embed", { inputs: "a" });
    const { deadline, call, model } = queries[0] as TaskQuery<unknown>;
    expect(model).toBeUndefined();
    expect(call.on(manifest)).toMatchObject({ inputs: ["a"], truncate: false });
    expect(deadline.remainingMs()).toBeUndefined();
  });

  it("writes float32 numbers with nine digits", async () => {
    const { post } = setUp(async () => ({ ...answer, result: [Float32Array.of(0.1, 1 / 3, -1e-20)] }));
    expect(await (await post("/v1/embed", { inputs: "a" })).text()).toContain(
      "[[0.100000001,0.333333343,-9.99999968e-21]]",
    );
  });

  it("leaves out a predicted time that is unknown", async () => {
    const known = await setUp().post("/v1/embed", { inputs: "a" });
    expect(known.headers.get("x-bert-edge-predicted-ms")).toBe("1.23");
    const unknown = await setUp(async () => ({ ...answer, predictedMs: undefined })).post("/v1/embed", { inputs: "a" });
    expect(unknown.headers.has("x-bert-edge-predicted-ms")).toBe(false);
  });

  it("reports the service's timings and the total in Server-Timing", async () => {
    const { headers } = await setUp().post("/v1/embed", { inputs: "a" });
    expect(headers.get("server-timing")).toMatch(/^compute;dur=1\.50, total;dur=\d+\.\d\d$/);
  });
});

describe("a wrong method on a known path", () => {
  it.each([
    ["GET", "/v1/embed", "POST"],
    ["DELETE", "/v1/embeddings/", "POST"],
    ["PUT", "/v1/jobs/one", "GET, POST"],
    ["POST", "/v1/jobs/one/results", "GET"],
    ["POST", "/health", "GET"],
    ["PATCH", "/mine", "PUT"],
  ])("%s %s gets HTTP 405 and the methods %s", async (method, path, allow) => {
    const { app } = setUp();
    app.put("/mine", (c) => c.text("mine"));
    const headers = { authorization: "Bearer k", "x-request-id": "r-1" };
    const response = await app.request(path, { method, headers });
    const { error } = (await response.json()) as { error: object };
    expect([response.status, error]).toMatchObject([405, { code: "method_unsupported" }]);
    expect([response.headers.get("allow"), response.headers.get("x-request-id")]).toEqual([allow, "r-1"]);
  });

  it("needs a key under /v1/, and does not exist on unknown paths", async () => {
    const { app, get } = setUp();
    expect((await app.request("/v1/embed")).status).toBe(401);
    expect((await get("/v1/nothing")).status).toBe(404);
  });
});

describe("x-request-id", () => {
  it.each(["/health", "/ready", "/v1/embed", "/v1/nothing", "/nothing"])("names the answer to GET %s", async (path) => {
    const response = await setUp().app.request(path, { headers: { "x-request-id": "r-1" } });
    expect(response.headers.get("x-request-id")).toBe("r-1");
  });
});

describe("a route that does not exist", () => {
  const hintOf = async (path: string) => {
    const { error } = (await (await setUp().post(path, {})).json()) as { error: Record<string, string> };
    return `${error["message"]} ${error["hint"]}`;
  };

  it("names similar ones, and where all are shown", async () => {
    expect(await hintOf("/v1/embedd")).toMatch(/Did you mean \/v1\/embed or .*GET \/docs shows all routes/);
    for (const path of ["/V1/EMBED", "/api/v1/embed", "/v1%2Fembed", "//v1/embed"])
      expect(await hintOf(path)).toContain("Did you mean /v1/embed or /embed?");
    expect(await hintOf("/tag")).toContain("Did you mean /v1/tag?");
    expect(await hintOf("/api/v1/embed")).toContain("Leave /api out at the end of the client's base URL");
    expect(await hintOf("/v1/nothing-like-it")).not.toContain("Did you mean");
    expect(await hintOf("/v1/output")).not.toContain("/v1/outputs");
    expect(await hintOf("/metrics")).toContain("`metrics: true`");
    expect(await hintOf("/v1/embed/v1/embed")).toContain("Leave /v1/embed out at the end of the client's base URL");
  });
});

describe("a route of one's own", () => {
  const own = async (body: string, route: (c: Context) => Promise<unknown>) => {
    const { app } = setUp();
    app.post("/mine", async (c) => c.json(await route(c)));
    const response = await app.request("/mine", { method: "POST", body });
    return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
  };

  it("whose caller sends no JSON answers that the request is invalid", async () => {
    expect(await own("{not json", (c) => c.req.json())).toEqual([400, "request_invalid"]);
  });

  it("that reads other JSON itself has failed", async () => {
    expect(await own("{}", async (c) => [await c.req.json(), JSON.parse("{")])).toEqual([500, "internal"]);
    expect(await own("{", async () => JSON.parse("{"))).toEqual([500, "internal"]);
    expect(await own("hello", async (c) => [await c.req.text(), JSON.parse("{")])).toEqual([500, "internal"]);
    expect(log).toHaveBeenCalledTimes(3);
  });
});

describe("GET /ready", () => {
  it("says with which code the model fails to load", async () => {
    const { app } = setUp(undefined, undefined, undefined, { failure: () => "model_not_published" });
    const response = await app.request("/ready");
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: "failed", code: "model_not_published", model: "tiny" },
    ]);
  });
});
