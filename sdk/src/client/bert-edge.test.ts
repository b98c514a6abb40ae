import fc from "fast-check";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { encodeBytes } from "../serve/contract/vector-text.ts";
import {
  AuthenticationError,
  BertEdge,
  BertEdgeClientError,
  type BertEdgeOptions,
  ConnectionError,
  type Embeddings,
  type EmbedOptions,
  InvalidRequestError,
  type PartialEmbeddings,
  RateLimitError,
  type Reason,
  type SkippingOptions,
  type Tier,
  TimeoutError,
  UnavailableError,
} from "./index.ts";

interface Sent {
  url: string;
  init: RequestInit & { headers: Record<string, string> };
}
type Answering = (init: RequestInit) => Response | Promise<Response>;

/** Makes a client with a fake fetch that records its calls. */
function clientOf(answer: Answering, options: Partial<BertEdgeOptions> = {}) {
  const sent: Sent[] = [];
  const client = new BertEdge({
    baseURL: "https://edge.example.com",
    apiKey: "secret-key",
    maxRetries: 0,
    fetch: (async (url: URL, init: Sent["init"]) => {
      sent.push({ url: String(url), init });
      return answer(init);
    }) as unknown as typeof fetch,
    ...options,
  });
  return { client, sent };
}

const VECTOR = Float32Array.of(0.6, 0.8);
const good = (headers: Record<string, string> = {}) =>
  Response.json(
    { model: "tiny", version: "0123456789ab", tier: "edge", embeddings: [encodeBytes(VECTOR)], usage: { tokens: 4 } },
    { headers: { "x-bert-edge-reason": "no-budget", ...headers } },
  );
const refused = (status: number, error: unknown) => Response.json({ error }, { status });
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("new BertEdge", () => {
  it.each(["", "edge.example.com", "/v1"])("refuses the base URL %j", (baseURL) => {
    expect(() => new BertEdge({ baseURL, apiKey: "k" })).toThrow(TypeError);
  });

  it.each([
    ["https://example.com", "https://example.com/v1/embed"],
    ["https://example.com/v1", "https://example.com/v1/embed"],
    ["https://example.com//v1/", "https://example.com/v1/embed"],
    ["https://example.com/bert", "https://example.com/bert/v1/embed"],
    ["https://example.com/bert/", "https://example.com/bert/v1/embed"],
    ["https://example.com/bert/v1/", "https://example.com/bert/v1/embed"],
    ["https://example.com/v1/bert", "https://example.com/v1/bert/v1/embed"],
    ["http://v1", "http://v1/v1/embed"],
  ])("takes the base URL %s, with or without a version and slashes", async (baseURL, url) => {
    const { client, sent } = clientOf(() => good(), { baseURL });
    await client.embed("a");
    expect(sent.map((request) => request.url)).toEqual([url]);
  });

  it("says what is missing if JavaScript gives no options and no texts", async () => {
    expect(() => new (BertEdge as new () => BertEdge)()).toThrow("baseURL is not a URL");
    const { client, sent } = clientOf(() => good());
    await expect(client.embed(undefined as never)).rejects.toThrow(
      "embed needs a text or an array of texts, not undefined.",
    );
    await expect(client.embed({ text: "a" } as never)).rejects.toThrow("not object");
    expect(sent).toEqual([]);
  });

  it.each([
    ["concurrency", 0],
    ["concurrency", 1.5],
    ["batchSize", 0],
    ["batchSize", Number.NaN],
    ["maxRetries", -1],
    ["maxRetries", 0.5],
    ["maxRetries", Number.NaN],
    ["timeoutMs", 0],
    ["timeoutMs", -1],
    ["timeoutMs", Number.NaN],
    ["timeoutMs", Number.POSITIVE_INFINITY],
  ])("refuses the %s %d", (name, value) => {
    expect(() => new BertEdge({ baseURL: "https://a", apiKey: "k", [name]: value })).toThrow(
      `${name} must be a whole number of at least `,
    );
  });

  it.each(["batchSize", "maxRetries", "timeoutMs"])("refuses the option %s of a call", async (name) => {
    const client = new BertEdge({ baseURL: "https://a", apiKey: "k" });
    const message = `${name} is an option of new BertEdge(), not of embed.`;
    await expect(client.embed("to be", { [name]: 2 } as object)).rejects.toThrow(new TypeError(message));
  });

  it.each([undefined, "", " ", "secret…", "secret\nkey"])("refuses the key %j, and does not print it", (apiKey) => {
    expect(() => new BertEdge({ baseURL: "https://a", apiKey: apiKey as string })).toThrow(
      new TypeError("apiKey is missing, empty or not in Latin-1"),
    );
  });

  it.each(["key\n", "clé"])("takes the key %j, which fetch takes too", (apiKey) => {
    expect(() => new Headers({ authorization: `Bearer ${apiKey}` })).not.toThrow();
    expect(() => new BertEdge({ baseURL: "https://a", apiKey })).not.toThrow();
  });

  it("does not print its key", () => {
    const { client } = clientOf(() => good());
    expect(JSON.stringify(client) + String(client) + Object.keys(client)).not.toContain("secret-key");
  });
});

describe("embed", () => {
  it("posts the texts with the key", async () => {
    const { client, sent } = clientOf(() => good());
    await client.embed("to be");
    expect(sent).toHaveLength(1);
    const [{ url, init }] = sent as [Sent];
    expect([init.method, url]).toEqual(["POST", "https://edge.example.com/v1/embed"]);
    expect(init.headers).toEqual({ authorization: "Bearer secret-key", "content-type": "application/json" });
    expect(JSON.parse(init.body as string)).toEqual({
      inputs: ["to be"],
      encoding_format: "base64",
    });
  });

  it("reports the times of the last predicted answer of the edge", async () => {
    const answers = [good({ "x-bert-edge-predicted-ms": "12.50" }), good(), good()];
    const { client, sent } = clientOf(() => answers.shift() as Response);
    for (let request = 0; request < 3; request++) await client.embed("to be");
    const reports = sent.map(({ init }) => init.headers["x-bert-edge-report"]);
    // The second answer has no prediction, so the third request repeats the report.
    expect(reports).toEqual([undefined, expect.stringMatching(/^12\.5 \d+$/), reports[1]]);
  });

  it("does not report an answer without a prediction", async () => {
    const { client, sent } = clientOf(() => good());
    for (let request = 0; request < 2; request++) await client.embed("to be");
    expect(sent[1]?.init.headers).not.toHaveProperty("x-bert-edge-report");
  });

  it("asks for truncation", async () => {
    const { client, sent } = clientOf(() => good());
    await client.embed(["to be"], { truncate: true });
    expect(JSON.parse(sent[0]?.init.body as string)).toMatchObject({ inputs: ["to be"], truncate: true });
  });

  it("sends the call's budget, or else the client's, or else none", async () => {
    const { client, sent } = clientOf(() => good(), { latencyBudgetMs: 30 });
    await client.embed("a");
    await client.embed("a", { latencyBudgetMs: 12.5 });
    const budgets = sent.map(({ init }) => init.headers["x-latency-budget-ms"]);
    expect(budgets).toEqual(["30", "12.5"]);
  });

  it("returns the vectors, and the values of the headers", async () => {
    const { client } = clientOf(() =>
      good({
        "x-bert-edge-reason": "within-budget",
        "x-bert-edge-predicted-ms": "11.20",
        "x-latency-budget-remaining-ms": "-3.50",
        "x-request-id": "r-1",
        "x-bert-edge-decision": "budget=50.0, wait=0.0",
      }),
    );
    expect(await client.embed("to be")).toEqual({
      embeddings: [VECTOR],
      model: "tiny",
      version: "0123456789ab",
      tier: "edge",
      reason: "within-budget",
      predictedMs: 11.2,
      remainingMs: -3.5,
      tokens: 4,
      requests: [
        {
          ...{ texts: 1, tokens: 4, tier: "edge", reason: "within-budget", predictedMs: 11.2, remainingMs: -3.5 },
          ...{ requestId: "r-1", decision: "budget=50.0, wait=0.0" },
        },
      ],
    });
  });

  it("returns undefined for headers that are missing", async () => {
    const { client } = clientOf(() => good());
    expect(await client.embed("to be")).toMatchObject({ predictedMs: undefined, remainingMs: undefined });
  });

  it("returns undefined for the reason if a page of another origin cannot read it", async () => {
    const { client } = clientOf(async () => new Response(await good().text()));
    const { reason, tier, requests } = await client.embed("to be");
    expect([reason, tier, requests[0]?.reason]).toEqual([undefined, "edge", undefined]);
  });

  it("sends any text unchanged", async () => {
    const { client, sent } = clientOf(() => good());
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }), async (text) => {
        await client.embed(text);
        expect((JSON.parse(sent.at(-1)?.init.body as string) as { inputs: string[] }).inputs).toEqual([text]);
      }),
    );
  });
});

describe("errors", () => {
  const details = { code: "some_code", message: "What.", hint: "How." };

  it.each([
    [400, InvalidRequestError],
    [401, AuthenticationError],
    [404, InvalidRequestError],
    [413, InvalidRequestError],
    [415, InvalidRequestError],
    [429, RateLimitError],
    [500, UnavailableError],
    [503, UnavailableError],
  ] as const)("of HTTP %d have their class, and the server's code, message and hint", async (status, Class) => {
    const { client } = clientOf(() => refused(status, details));
    const error = await failure(client.embed("a"));
    expect(error).toBeInstanceOf(Class);
    expect(error).toBeInstanceOf(BertEdgeClientError);
    expect(error).toMatchObject({ ...details, status, name: Class.name });
  });

  it("may have no hint", async () => {
    const { client } = clientOf(() => refused(400, { code: "input_empty", message: "Empty." }));
    expect(await failure(client.embed("a"))).toMatchObject({ code: "input_empty", hint: undefined });
  });

  it("have the request's name and the figures of a refusal", async () => {
    const headers = { "x-request-id": "r-1", "x-bert-edge-decision": "budget=50.0, wait=90.0" };
    const { client } = clientOf(() => Response.json({ error: details }, { status: 400, headers }));
    expect(await failure(client.embed("a"))).toMatchObject({
      requestId: "r-1",
      decision: "budget=50.0, wait=90.0",
    });
  });

  it.each(["<html>", "", "null", "[]", '{"error": "no"}', '{"error": {"code": 7}}', '{"error": {"code": "x"}}'])(
    "say that an error response is not from bert-edge: %j",
    async (body) => {
      for (const [status, Class, hint] of [
        [404, InvalidRequestError, "baseURL"],
        [429, RateLimitError, "raise the limit"],
        [502, UnavailableError, "log"],
      ] as const) {
        const { client } = clientOf(() => new Response(body, { status }));
        const error = await failure(client.embed("a"));
        expect(error).toBeInstanceOf(Class);
        expect(error).toMatchObject({
          code: `http_${status}`,
          status,
          message: `HTTP ${status}, not from bert-edge.`,
          hint: expect.stringContaining(hint),
        });
      }
    },
  );

  const page = (title: string, number: number) =>
    `<!DOCTYPE html><html><head><title>${title} | Cloudflare</title></head><body><h1><span>Error</span>\n<span>${number}</span></h1></body></html>`;

  it.each([
    ["plain text", 503, "error code: 1102", "Cloudflare error 1102", "batchSize"],
    ["a page", 503, page("Worker exceeded resource limits", 1102), "Cloudflare error 1102", "CPU time or memory"],
    ["a page", 429, page("Rate limited", 1015), "Cloudflare error 1015", "raise the limit"],
    ["a page", 500, page("Worker threw exception", 1101), "Cloudflare error 1101", "log"],
    ["plain text", 530, "error code: 1016", "Cloudflare error 1016", "log"],
    ["plain text", 522, "error code: 522", "HTTP 522, not from bert-edge", "log"],
  ])("tell the truth about Cloudflare's %s with HTTP %d: %s", async (_, status, body, message, hint) => {
    const { client } = clientOf(() => new Response(body, { status }));
    expect(await failure(client.embed("a"))).toMatchObject({
      status,
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  it.each(["<html>", "", "null", "[]", "{}", '{"embeddings": []}', '"ok"'])(
    "are ConnectionErrors when a successful response is not from bert-edge: %j",
    async (body) => {
      const { client } = clientOf(() => new Response(body));
      const error = await failure(client.embed("a"));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: "response_invalid", status: 200, cause: expect.any(Error) });
    },
  );

  const vectors = (...lists: number[][]) => ({
    embeddings: lists.map((list) => encodeBytes(Float32Array.from(list))),
  });
  it.each<[what: string, change: object]>([
    ["a vector with NaN", vectors([Number.NaN, 1], [1, 0])],
    ["a vector with Infinity", vectors([1, 0], [Number.NEGATIVE_INFINITY, 1])],
    ["an empty vector", vectors([], [])],
    ["vectors of different lengths", vectors([1, 0], [1, 0, 0])],
    ["one vector for two texts", vectors([1, 0])],
    ["a vector that is not base64", { embeddings: ["!", "!"] }],
    ["a vector of three bytes", { embeddings: ["AAAA", "AAAA"] }],
    ["an unknown tier", { tier: "moon" }],
    ["no version", { version: undefined }],
    ["a model that is not a string", { model: 1 }],
    ["tokens as a string", { usage: { tokens: "4" } }],
    ["no usage", { usage: undefined }],
  ])("are ConnectionErrors when the answer has %s", async (_, change) => {
    const usual = {
      model: "tiny",
      version: "0123456789ab",
      tier: "edge",
      usage: { tokens: 4 },
      ...vectors([1, 0], [0, 1]),
    };
    await clientOf(() => Response.json(usual)).client.embed(["a", "b"]);
    const { client } = clientOf(() => Response.json({ ...usual, ...change }));
    expect(await failure(client.embed(["a", "b"]))).toMatchObject({ code: "response_invalid", retryable: false });
  });

  it("are ConnectionErrors when there is no response or the body breaks off", async () => {
    const unreachable = new TypeError("fetch failed");
    const brokenOff = new ReadableStream({ pull: (stream) => stream.error(new TypeError("terminated")) });
    for (const answer of [() => Promise.reject(unreachable), () => new Response(brokenOff)]) {
      const error = await failure(clientOf(answer).client.embed("a"));
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error).toMatchObject({ code: "connection", cause: expect.any(TypeError) });
    }
  });

  it("come at once and are read to a bound, whatever a page consists of", async () => {
    let chunks = 0;
    let cancelled = false;
    const endless = new ReadableStream({
      pull(stream) {
        chunks++;
        stream.enqueue(new TextEncoder().encode("<".repeat(4_096)));
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const { client } = clientOf(() => new Response(endless, { status: 500 }));
    expect(await failure(client.embed("a"))).toMatchObject({ code: "http_500" });
    expect(chunks).toBeLessThan(10);
    expect(cancelled).toBe(true);
  });

  it.each([
    [
      "a redirect",
      new Response("", { status: 307, headers: { location: "https://other.test/v1/embed" } }),
      "other.test",
    ],
    ["a redirect that a browser hides", Response.error(), "baseURL"],
  ])("say where %s leads, which is not followed", async (_, response, hint) => {
    const { client, sent } = clientOf(() => response, { maxRetries: 3 });
    const error = await failure(client.embed("a"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: "redirected", hint: expect.stringContaining(hint) });
    expect(sent.map(({ init }) => init.redirect)).toEqual(["manual"]);
  });

  it("never contain the API key", async () => {
    for (const answer of [
      () => refused(401, details),
      () => Promise.reject(new TypeError("x")),
      () => new Response(""),
    ]) {
      const error = (await failure(clientOf(answer).client.embed("a"))) as BertEdgeClientError;
      expect(error.message + error.hint + error.stack).not.toContain("secret-key");
    }
  });
});

describe("a call", () => {
  const silent: Answering = ({ signal }) =>
    new Promise((_, reject) => {
      const stop = () => reject(signal?.reason);
      if (signal?.aborted) stop();
      signal?.addEventListener("abort", stop);
    });

  it("fails with a TimeoutError after timeoutMs", async () => {
    const { client } = clientOf(silent, { timeoutMs: 0.5 });
    const error = await failure(client.embed("a"));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: "timeout", message: expect.stringContaining("1 ms") });
    expect((error as TimeoutError).status).toBeUndefined();
  });

  it("leaves no timer and no listener behind", async () => {
    vi.useFakeTimers();
    try {
      const { signal } = new AbortController();
      const added = vi.spyOn(signal, "addEventListener");
      const removed = vi.spyOn(signal, "removeEventListener");
      const { client, sent } = clientOf(() => good(), { timeoutMs: 1e12 });
      await client.embed("a", { signal });
      expect(vi.getTimerCount()).toBe(0);
      expect(removed.mock.calls).toEqual(added.mock.calls);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(sent[0]?.init.signal?.aborted).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it("fails with a TimeoutError while the body is read", async () => {
    const { client } = clientOf(
      ({ signal }) =>
        new Response(
          new ReadableStream({
            start: (stream) => signal?.addEventListener("abort", () => stream.error(signal.reason)),
          }),
        ),
      { timeoutMs: 1 },
    );
    expect(await failure(client.embed("a"))).toBeInstanceOf(TimeoutError);
  });

  it("rejects with the reason of its signal when the caller aborts", async () => {
    const { client, sent } = clientOf(silent);
    const controller = new AbortController();
    const reason = new Error("not needed any more");
    const answer = failure(client.embed("a", { signal: controller.signal }));
    controller.abort(reason);
    expect(await answer).toBe(reason);
    expect(sent[0]?.init.signal?.aborted).toBe(true);
  });

  it("is not sent when the signal has already aborted", async () => {
    const { client } = clientOf(silent);
    expect(await failure(client.embed("a", { signal: AbortSignal.abort("before") }))).toBe("before");
  });
});

describe("the types", () => {
  it("describe the parameters and the result", () => {
    expectTypeOf<BertEdge["embed"]>().parameter(0).toEqualTypeOf<string | readonly string[]>();
    const embed = (options?: EmbedOptions) => new BertEdge({ baseURL: "https://a", apiKey: "k" }).embed("a", options);
    const skip = (options: SkippingOptions) => new BertEdge({ baseURL: "https://a", apiKey: "k" }).embed("a", options);
    expectTypeOf(embed).returns.resolves.toEqualTypeOf<Embeddings>();
    expectTypeOf(skip).returns.resolves.toEqualTypeOf<PartialEmbeddings>();
    expectTypeOf<Embeddings["embeddings"]>().toEqualTypeOf<Float32Array<ArrayBuffer>[]>();
    expectTypeOf<PartialEmbeddings["embeddings"]>().toEqualTypeOf<(Float32Array<ArrayBuffer> | undefined)[]>();
    expectTypeOf<Embeddings["tier"]>().toEqualTypeOf<Tier | "mixed">();
    expectTypeOf<Embeddings["reason"]>().toEqualTypeOf<Reason | "mixed" | undefined>();
    expectTypeOf<Embeddings["predictedMs"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<TimeoutError>().toExtend<BertEdgeClientError>();
    expectTypeOf(new BertEdge({ baseURL: "https://a", apiKey: "k", fetch })).toEqualTypeOf<BertEdge>();
    // @ts-expect-error a key is needed
    expect(() => new BertEdge({ baseURL: "https://a" })).toThrow(TypeError);
  });
});
