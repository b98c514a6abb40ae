import { Hono } from "hono";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { type FakeEngineOptions, fakeEngine, publishTiny, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { memoryStore } from "../storage/memory.ts";
import type { EmbeddingsOptions } from "./deployment.ts";
import { embeddings } from "./embedding-routes.ts";

const log = errorLog();

async function tinyEmbeddings(changes: Partial<EmbeddingsOptions<object>> = {}, engine: FakeEngineOptions = {}) {
  const models = await tinyStore();
  return embeddings({ models, model: TINY.name, engine: fakeEngine(engine), keys: ["k"], ...changes });
}

/** Makes the options of a valid POST request with this body and these extra headers. */
const post = (json: object = { inputs: "to be" }, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { authorization: "Bearer k", "content-type": "application/json", ...headers },
  body: JSON.stringify(json),
});
/** Returns the status and the body, parsed if it is JSON. */
const outcome = async (answer: Response | Promise<Response>) => {
  const response = await answer;
  const text = await response.text();
  return [response.status, text.startsWith("{") ? JSON.parse(text) : text];
};

describe("embeddings, mounted in another app", () => {
  it("answers both routes, and leaves all other paths to the app", async () => {
    const app = new Hono();
    app.route("/", await tinyEmbeddings());
    app.get("/v1/models", (c) => c.text("my models"));
    app.notFound((c) => c.text("my own page", 404));
    expect(await outcome(app.request("/v1/embed", post()))).toMatchObject([200, { model: TINY.name, tier: "edge" }]);
    const openai = post({ input: "to be", model: TINY.name });
    expect(await outcome(app.request("/v1/embeddings", openai))).toMatchObject([200, { object: "list" }]);
    expect(await outcome(app.request("/v1/models"))).toEqual([200, "my models"]);
    for (const path of ["/", "/health", "/ready", "/v1/embed", "/v1/anything"]) {
      expect(await outcome(app.request(path))).toEqual([404, "my own page"]);
    }
  });

  it("runs the app's middleware first, on answers and on errors", async () => {
    const seen: string[] = [];
    const app = new Hono();
    app.use(cors({ origin: "https://app.example" }));
    app.use(async (c, next) => {
      await next();
      seen.push(`${c.req.method} ${c.req.path} ${c.res.status}`);
      c.res.headers.set("x-app", "mine");
    });
    app.route("/", await tinyEmbeddings());

    const preflight = await app.request("/v1/embed", { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    const origin = "https://app.example";
    for (const request of [
      post({ inputs: "a" }, { origin }),
      post({}, { origin }),
      post({ inputs: "a" }, { origin, authorization: "" }),
    ]) {
      const { headers } = await app.request("/v1/embed", request);
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      expect(headers.get("x-app")).toBe("mine");
    }
    expect(seen).toEqual(["POST /v1/embed 200", "POST /v1/embed 400", "POST /v1/embed 401"]);
  });

  it("answers its own errors as JSON, even if the app has an error handler", async () => {
    const app = new Hono();
    app.onError((_, c) => c.text("my own error", 500));
    app.route("/", await tinyEmbeddings());
    expect(await outcome(app.request("/v1/embed", post({})))).toMatchObject([
      400,
      { error: { code: "request_invalid" } },
    ]);
    expect(await outcome(app.request("/v1/embeddings", post({})))).toMatchObject([
      400,
      { error: { code: "request_invalid", type: "invalid_request_error" } },
    ]);
  });

  it.each([
    ["an Error", new Error("inside")],
    ["a number", 7],
  ])("hides %s that the engine throws", async (_, thrown) => {
    const app = new Hono();
    app.onError((_, c) => c.text("my own error", 500));
    app.route("/", await tinyEmbeddings({}, { run: () => Promise.reject(thrown) }));
    expect(await outcome(app.request("/v1/embed", post()))).toMatchObject([
      503,
      { error: { code: "model_unavailable" } },
    ]);
  });

  it("leaves the errors of the app's own routes to the app", async () => {
    const app = new Hono();
    app.onError((error, c) => c.text(`mine: ${error.message}`, 500));
    app.get("/before", () => Promise.reject(new Error("one")));
    app.route("/", await tinyEmbeddings());
    app.get("/after", () => Promise.reject(new Error("two")));
    app.post("/v1/other", () => Promise.reject(new BertEdgeError("input_empty", "three")));
    expect(await outcome(app.request("/before"))).toEqual([500, "mine: one"]);
    expect(await outcome(app.request("/after"))).toEqual([500, "mine: two"]);
    expect(await outcome(app.request("/v1/other", post()))).toEqual([500, "mine: three"]);
    expect(log).not.toHaveBeenCalled();
  });

  it("works under a base path, with OpenAI's error format on OpenAI's route", async () => {
    const app = new Hono().basePath("/api");
    app.route("/ai", await tinyEmbeddings());
    expect((await app.request("/api/ai/v1/embed", post())).status).toBe(200);
    expect(await outcome(app.request("/api/ai/v1/embeddings", post()))).toMatchObject([
      400,
      { error: { code: "request_invalid", param: null } },
    ]);
    expect((await app.request("/v1/embed", post())).status).toBe(404);
  });

  it("serves two models side by side, each with its own keys", async () => {
    const models = memoryStore();
    for (const name of ["small", "large"]) await publishTiny(models, name, { name });
    const app = new Hono();
    app.route("/small", await tinyEmbeddings({ models, model: "small", keys: ["s"] }));
    app.route("/large", await tinyEmbeddings({ models, model: "large", keys: ["l"] }));
    const ask = (name: string, key: string) =>
      outcome(app.request(`/${name}/v1/embed`, post({ inputs: "a" }, { authorization: `Bearer ${key}` })));
    expect(await ask("small", "s")).toMatchObject([200, { model: "small" }]);
    expect(await ask("large", "l")).toMatchObject([200, { model: "large" }]);
    expect(await ask("large", "s")).toMatchObject([401, { error: { code: "key_wrong" } }]);
  });
});

describe("embed, in process", () => {
  interface Env {
    NAME: string;
  }
  const executionCtx = { waitUntil: () => {} };

  async function setUp() {
    const store = await tinyStore();
    const engine = fakeEngine();
    const bert = embeddings<Env>({ models: store, model: ({ NAME }) => NAME, engine, keys: ["k"] });
    return { bert, engine, env: { NAME: TINY.name } };
  }

  it("gives a route of the app the vectors of the mounted routes, from the same loaded model", async () => {
    const { bert, engine, env } = await setUp();
    const app = new Hono<{ Bindings: Env & { OTHER?: string }; Variables: { user: string } }>();
    app.route("/", bert);
    app.get("/mine", async (c) => {
      const { embeddings, tier, reason, version, tokens, model } = await bert.embed(c, ["to be", "or not"]);
      return c.json({ embeddings: embeddings.map((vector) => [...vector]), tier, reason, version, tokens, model });
    });
    const [, mounted] = await outcome(app.request("/v1/embed", post({ inputs: ["to be", "or not"] }), env));
    const [status, own] = await outcome(app.request("/mine", {}, env));
    expect(status).toBe(200);
    expect(own).toMatchObject({
      tier: "edge",
      reason: "only-tier",
      model: TINY.name,
      version: mounted.version,
      tokens: 8,
    });
    expect(own.embeddings.map((vector: number[]) => Float32Array.from(vector))).toEqual(
      mounted.embeddings.map((vector: number[]) => Float32Array.from(vector)),
    );
    expect(engine.sessions).toHaveLength(1);
  });

  it("works outside requests, with the environment alone", async () => {
    const { bert, env } = await setUp();
    const { embeddings } = await bert.embed({ env, executionCtx }, "a", { latencyBudgetMs: 100_000 });
    expect(embeddings).toEqual([expect.any(Float32Array)]);
  });

  it("truncates on request, and throws the errors of HTTP", async () => {
    const { bert, env } = await setUp();
    const long = "word ".repeat(TINY.maxTokens);
    expect((await bert.embed({ env, executionCtx }, [long], { truncate: true })).tokens).toBe(TINY.maxTokens);
    for (const [texts, options, expected] of [
      [["a", long], {}, { code: "input_too_long", index: 1 }],
      [["a", " "], {}, { code: "input_empty", index: 1 }],
      [[], {}, { code: "input_empty", index: undefined }],
      [["a", undefined as unknown as string], {}, { code: "request_invalid", index: 1 }],
      [[5 as unknown as string], {}, { message: "Input 0 is not a text: it is 5." }],
      [["a"], { latencyBudgetMs: 0 }, { code: "budget_invalid" }],
      [Array(2_049).fill("a"), {}, { code: "too_many_inputs" }],
    ] as const) {
      await expect(bert.embed({ env, executionCtx }, texts, options)).rejects.toMatchObject(expected);
    }
  });
});

describe("other tasks, in process", () => {
  it("use the model that an option names", async () => {
    const models = memoryStore();
    for (const name of ["small", "large"]) await publishTiny(models, name, { name });
    const bert = await tinyEmbeddings({ models, model: ["small", "large"] });
    const c = { env: {}, executionCtx: { waitUntil: () => {} } };
    const { scores, model } = await bert.similarity(c, "to be", ["to be", "or not"], { model: "large" });
    expect(model).toBe("large");
    expect(scores).toEqual([expect.closeTo(1, 6), expect.any(Number)]);
    expect((await bert.similarity(c, "to be", ["to be"])).model).toBe("small");
    await expect(bert.classify(c, "to be")).rejects.toMatchObject({
      code: "task_unsupported",
      hint: 'Set `model` to one of "large".',
    });
    await expect(bert.embed(c, ["to be"], { model: "other" })).rejects.toMatchObject({ code: "model_unknown" });
  });
});

describe("the keys of embeddings", () => {
  it.each([undefined, null, "", () => undefined])(
    "refuses every request if they are %j: only false opens the routes",
    async (keys) => {
      const app = await tinyEmbeddings({ keys: keys as never });
      expect(await outcome(app.request("/v1/embed", post()))).toMatchObject([
        503,
        { error: { code: "keys_not_configured" } },
      ]);
    },
  );

  it("refuse every request without a key of the list", async () => {
    const app = await tinyEmbeddings({ keys: [] });
    expect(await outcome(app.request("/v1/embed", post()))).toMatchObject([
      503,
      { error: { code: "keys_not_configured" } },
    ]);
  });

  it("leave authentication to the app when they are false", async () => {
    const app = new Hono();
    app.use("/v1/*", async (c, next) => {
      if (c.req.header("cookie") !== "session=1") throw new HTTPException(403, { message: "Sign in first." });
      await next();
    });
    app.route("/", await tinyEmbeddings({ keys: false }));
    const request = (cookie: string) => post({ inputs: "a" }, { cookie, authorization: "" });
    expect(await outcome(app.request("/v1/embed", request("")))).toEqual([403, "Sign in first."]);
    expect(await outcome(app.request("/v1/embed", request("session=1")))).toMatchObject([200, { model: TINY.name }]);
  });
});

describe("the settings of embeddings", () => {
  it("are read from the environment of the first request", async () => {
    const store = await tinyStore();
    const models = vi.fn((_: { NAME: string }) => store);
    const app = embeddings({ models, model: ({ NAME }) => NAME, engine: fakeEngine(), keys: () => ["k"] });
    expect(models).not.toHaveBeenCalled();
    const env = { NAME: TINY.name };
    for (let request = 0; request < 3; request++) {
      expect((await app.request("/v1/embed", post(), env)).status).toBe(200);
    }
    expect(models).toHaveBeenCalledExactlyOnceWith(env);
  });

  it("that cannot be read fail the request, and are read again for the next one", async () => {
    const store = await tinyStore();
    const models = vi
      .fn(() => store)
      .mockImplementationOnce(() => {
        throw new BertEdgeError("setting_invalid", "The setting S3_BUCKET is missing.");
      });
    const app = await tinyEmbeddings({ models });
    expect(await outcome(app.request("/v1/embed", post()))).toMatchObject([
      503,
      { error: { code: "setting_invalid" } },
    ]);
    expect((await app.request("/v1/embed", post())).status).toBe(200);
  });
});
