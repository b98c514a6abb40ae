import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeBytes } from "../serve/contract/vector-text.ts";
import {
  BertEdge,
  type BertEdgeOptions,
  ConnectionError,
  type EmbedOptions,
  InvalidRequestError,
  VersionChangedError,
} from "./index.ts";

interface Call {
  inputs: string[];
  /** Number of earlier requests. */
  number: number;
}

/** The vector of a text, which tells texts apart. */
const vectorOf = (text: string) => Float32Array.of(Number(text.slice(1)), 1);
const texts = Array.from({ length: 10 }, (_, i) => `t${i}`);

const answer = (inputs: readonly string[], { tier = "edge", version = "0123456789ab", reason = "no-budget" } = {}) =>
  Response.json(
    {
      ...{ model: "tiny", version, tier },
      embeddings: inputs.map((text) => encodeBytes(vectorOf(text))),
      usage: { tokens: inputs.length },
    },
    { headers: { "x-bert-edge-reason": reason, "x-bert-edge-predicted-ms": "2" } },
  );

const refusal = (index: number, status = 400) =>
  Response.json({ error: { code: "input_empty", message: `Input ${index} is empty.`, index } }, { status });

/** Makes a client of a service that refuses the texts in `bad`. It records its requests. */
function clientOf(options: Partial<BertEdgeOptions> & { bad?: string[]; respond?: (call: Call) => unknown } = {}) {
  const { bad = [], respond, ...rest } = options;
  const calls: string[][] = [];
  const client = new BertEdge({
    baseURL: "https://edge.example.com",
    apiKey: "k",
    batchSize: 4,
    fetch: (async (_: URL, { body, signal }: RequestInit) => {
      signal?.throwIfAborted();
      const { inputs } = JSON.parse(body as string) as { inputs: string[] };
      const number = calls.push(inputs) - 1;
      const response = await respond?.({ inputs, number });
      signal?.throwIfAborted();
      const fault = inputs.findIndex((text) => bad.includes(text));
      return response ?? (fault < 0 ? answer(inputs) : refusal(fault));
    }) as unknown as typeof fetch,
    ...rest,
  });
  return { client, calls };
}

const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

/** Waits until everything that can run now has run. */
const idle = () => new Promise((done) => setImmediate(done));

/** Returns the result or the error of a call, without the real wait before its retries. */
async function afterRetries(call: () => Promise<unknown>): Promise<unknown> {
  // Not `setImmediate`: services of earlier tests may still compute texts of their own, which would never end while time stands still.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  const settled = failure(call());
  await vi.runAllTimersAsync();
  return settled;
}
afterEach(() => {
  vi.useRealTimers();
});

describe("embed, with more texts than fit into a request", () => {
  it("sends batches, and returns the vectors in the order of the texts", async () => {
    const answers = texts.slice(0, 3).map(() => Promise.withResolvers<void>());
    const { client, calls } = clientOf({ respond: ({ number }) => answers[number]?.promise });
    const work = client.embed(texts);
    // Later requests are answered first.
    for (const { resolve } of answers.toReversed()) {
      resolve();
      await idle();
    }
    const { embeddings, tokens } = await work;
    expect(embeddings).toEqual(texts.map(vectorOf));
    expect(tokens).toBe(10);
    expect(calls).toEqual([texts.slice(0, 4), texts.slice(4, 8), texts.slice(8)]);
  });

  it("describes each request, and says `mixed` where they differ", async () => {
    const { client } = clientOf({
      respond: ({ inputs, number }) => answer(inputs, { tier: number === 1 ? "region" : "edge" }),
    });
    const found = await client.embed(texts);
    expect(found).toMatchObject({ tier: "mixed", reason: "no-budget", model: "tiny", version: "0123456789ab" });
    expect([found.predictedMs, found.remainingMs]).toEqual([undefined, undefined]);
    const shared = { reason: "no-budget", predictedMs: 2, remainingMs: undefined };
    expect(found.requests).toEqual([
      { texts: 4, tokens: 4, tier: "edge", ...shared },
      { texts: 4, tokens: 4, tier: "region", ...shared },
      { texts: 2, tokens: 2, tier: "edge", ...shared },
    ]);
  });

  it("reports progress after each request", async () => {
    const seen: unknown[] = [];
    await clientOf({ concurrency: 1 }).client.embed(texts, { onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([4, 8, 10].map((done) => ({ done, total: 10 })));
  });

  it.each([1, 2, 3])("sends at most %d requests at the same time", async (concurrency) => {
    const open: (() => void)[] = [];
    const { client, calls } = clientOf({
      ...{ concurrency, batchSize: 1 },
      respond: () => new Promise<void>((done) => open.push(done)),
    });
    const work = client.embed(texts);
    for (let answered = 0; answered < texts.length; answered++) {
      await idle();
      expect(calls).toHaveLength(Math.min(answered + concurrency, texts.length));
      open.shift()?.();
    }
    await work;
  });

  it("sends an empty list once: the service refuses it", async () => {
    const { client, calls } = clientOf({ respond: () => refusal(-1) });
    expect(await failure(client.embed([]))).toBeInstanceOf(InvalidRequestError);
    expect(calls).toEqual([[]]);
  });

  it("tries only failed requests again", async () => {
    const { client, calls } = clientOf({
      respond: ({ number }) => (number === 1 ? Promise.reject(new TypeError("dropped")) : undefined),
    });
    expect(await afterRetries(() => client.embed(texts))).toMatchObject({ embeddings: texts.map(vectorOf) });
    expect(calls).toHaveLength(4);
    expect(calls[3]).toEqual(calls[1]);
  });

  it.each([
    ["a response that is not from bert-edge", () => new Response("<html>")],
    ["too few vectors", () => answer([])],
  ])("fails at once on %s", async (_, respond) => {
    const { client, calls } = clientOf({ respond, concurrency: 1 });
    const error = await failure(client.embed(texts));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: "response_invalid", retryable: false });
    expect(calls).toHaveLength(1);
  });

  it.each([400, 401, 404, 413, 422])("does not try HTTP %d again, and stops the other requests", async (status) => {
    const other = Promise.withResolvers<void>();
    const { client, calls } = clientOf({
      ...{ concurrency: 2, batchSize: 1 },
      respond: ({ number }) => (number === 1 ? new Response("", { status }) : other.promise),
    });
    expect(await failure(client.embed(texts))).toMatchObject({ status, retryable: false });
    other.resolve();
    await idle();
    expect(calls).toHaveLength(2);
  });

  it("fails if a new version of the model is published meanwhile", async () => {
    const { client } = clientOf({
      respond: ({ inputs, number }) => answer(inputs, { version: number < 2 ? "aaaaaaaaaaaa" : "bbbbbbbbbbbb" }),
    });
    const error = await failure(client.embed(texts));
    expect(error).toBeInstanceOf(VersionChangedError);
    expect(error).toMatchObject({ code: "version_changed", message: expect.stringContaining("bbbbbbbbbbbb") });
  });

  it("rejects with the reason of its signal, and sends nothing more", async () => {
    const controller = new AbortController();
    const { client, calls } = clientOf({ concurrency: 1 });
    const work = client.embed(texts, { signal: controller.signal, onProgress: () => controller.abort("enough") });
    expect(await failure(work)).toBe("enough");
    expect(calls).toHaveLength(1);
  });
});

describe("a request that exceeds the limits of the deployment", () => {
  const tooMany = () => Response.json({ error: { code: "too_many_inputs", message: "Too many." } }, { status: 400 });
  const tooCostly = () => Response.json({ error: { code: "request_too_costly", message: "94 ms." } }, { status: 400 });
  const tooLarge = () => Response.json({ error: { code: "body_too_large", message: "Too large." } }, { status: 413 });
  const page = () => new Response("<h1>Request Entity Too Large</h1>", { status: 413 });

  it.each([
    ["too many texts", tooMany],
    ["too many bytes", tooLarge],
    ["too many bytes for a proxy", page],
    ["too much CPU time", tooCostly],
  ])("is halved: %s", async (_, refuse) => {
    const { client, calls } = clientOf({
      ...{ concurrency: 1, batchSize: 7 },
      respond: ({ inputs }) => (inputs.length > 2 ? refuse() : undefined),
    });
    const seen: unknown[] = [];
    const found = await client.embed(texts, { onProgress: ({ done }) => seen.push(done) });
    expect(found.embeddings).toEqual(texts.map(vectorOf));
    expect([found.tokens, seen]).toEqual([10, [7, 10]]);
    // Each text is computed once, and the details are in the order of the texts.
    const computed = calls.filter(({ length }) => length <= 2);
    expect(computed.flat()).toEqual(texts);
    expect(found.requests.map((request) => request.texts)).toEqual(computed.map(({ length }) => length));
    // A number of texts that was too large is not sent again.
    expect(calls.map(({ length }) => length)).toEqual([7, 3, 1, 2, 2, 2, 1, 2]);
  });

  it("grows again after a few long texts", async () => {
    const many = Array.from({ length: 640 }, (_, i) => `t${i}`);
    const { client, calls } = clientOf({
      ...{ concurrency: 1, batchSize: 64 },
      respond: ({ inputs }) => (inputs.includes("t0") && inputs.includes("t1") ? tooCostly() : undefined),
    });
    expect((await client.embed(many)).embeddings).toEqual(many.map(vectorOf));
    expect(calls.length).toBeLessThan(80);
  });

  it("fails with one text", async () => {
    const { client, calls } = clientOf({ respond: tooLarge, concurrency: 1 });
    expect(await failure(client.embed(texts))).toMatchObject({ code: "body_too_large", index: 0 });
    expect(calls.map(({ length }) => length)).toEqual([4, 2, 1]);
  });

  it("fails for one text alone, if the caller wishes", async () => {
    const { client, calls } = clientOf({
      concurrency: 1,
      respond: ({ inputs }) => (inputs.includes("t6") ? tooCostly() : undefined),
    });
    const { embeddings, failed } = await client.embed(texts, { onError: "skip" });
    expect(failed).toMatchObject([{ index: 6, error: { code: "request_too_costly" } }]);
    expect(embeddings).toEqual(texts.map(vectorOf).with(6, undefined as never));
    // One costly text does not make the batches of others smaller.
    expect(calls.map(({ length }) => length)).toEqual([4, 4, 2, 2, 1, 1, 2]);
  });

  it("does not hide texts that are refused themselves", async () => {
    const { client } = clientOf({ bad: ["t3"], respond: ({ inputs }) => (inputs.length > 2 ? tooMany() : undefined) });
    const { embeddings, failed } = await client.embed(texts, { onError: "skip" });
    expect(failed).toMatchObject([{ index: 3, error: { code: "input_empty", message: "Input 3 is empty." } }]);
    expect(embeddings).toEqual(texts.map(vectorOf).with(3, undefined as never));
  });
});

describe("the budget of a call", () => {
  const budgets = async (
    list: readonly string[],
    options: EmbedOptions = {},
    ofClient: Partial<BertEdgeOptions> = {},
  ) => {
    const sent: (string | null)[] = [];
    const { client } = clientOf({
      ...ofClient,
      fetch: (async (_: URL, { headers, body }: RequestInit) => {
        sent.push(new Headers(headers).get("x-latency-budget-ms"));
        return answer((JSON.parse(body as string) as { inputs: string[] }).inputs);
      }) as unknown as typeof fetch,
    });
    await client.embed(list, options);
    return sent;
  };

  it("is left to the deployment for one request, and none for several", async () => {
    expect(await budgets(["t1"])).toEqual([null]);
    expect(await budgets(texts)).toEqual(["none", "none", "none"]);
  });

  it("is none for the parts of a request that was refused as too large, and for texts that are read", async () => {
    const sent: (string | null)[] = [];
    const { client } = clientOf({
      fetch: (async (_: URL, { headers, body }: RequestInit) => {
        sent.push(new Headers(headers).get("x-latency-budget-ms"));
        const { inputs } = JSON.parse(body as string) as { inputs: string[] };
        const refused = { error: { code: "request_too_costly", message: "94 ms." } };
        return inputs.length > 1 ? Response.json(refused, { status: 400 }) : answer(inputs);
      }) as unknown as typeof fetch,
    });
    await client.embed(["t1", "t2"]);
    expect(sent).toEqual([null, "none", "none"]);
    sent.length = 0;
    for await (const _ of client.embedMany(["t1"]));
    expect(sent).toEqual(["none"]);
  });

  it("is the caller's for each request", async () => {
    expect(await budgets(texts, { latencyBudgetMs: 50 })).toEqual(["50", "50", "50"]);
    expect(await budgets(texts, {}, { latencyBudgetMs: 70 })).toEqual(["70", "70", "70"]);
    expect(await budgets(["t1"], { latencyBudgetMs: "none" }, { latencyBudgetMs: 70 })).toEqual(["none"]);
  });
});

describe("a text that the service refuses", () => {
  it("fails the call, with its index in the caller's list", async () => {
    const { client } = clientOf({ bad: ["t6"] });
    const error = await failure(client.embed(texts));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: "input_empty", index: 6, message: "Input 6 is empty." });
  });

  it("fails alone on request", async () => {
    const { client, calls } = clientOf({ bad: ["t1", "t3", "t9"] });
    const progress: number[] = [];
    const onProgress = ({ done }: { done: number }) => progress.push(done);
    const { embeddings, failed, tokens } = await client.embed(texts, { onError: "skip", onProgress });
    expect(embeddings).toEqual(texts.map((text, i) => ([1, 3, 9].includes(i) ? undefined : vectorOf(text))));
    expect(failed.map(({ index, error }) => [index, error.index, error.message])).toEqual(
      [1, 3, 9].map((index) => [index, index, `Input ${index} is empty.`]),
    );
    expect(tokens).toBe(7);
    expect(progress.at(-1)).toBe(10);
    // Three batches, and one more request for each skipped text.
    expect(calls).toHaveLength(6);
  });

  it("may be the only one", async () => {
    const { client, calls } = clientOf({ bad: ["t1"] });
    expect(await client.embed("t1", { onError: "skip" })).toEqual({
      embeddings: [undefined],
      failed: [{ index: 0, error: expect.any(InvalidRequestError) }],
      tokens: 0,
      requests: [],
      predictedMs: undefined,
      remainingMs: undefined,
    });
    expect(calls).toHaveLength(1);
  });

  it("is the one text of a request that exceeds the size limit", async () => {
    const long = `t2${" ".repeat(1_100_000)}`;
    const { client } = clientOf({
      respond: ({ inputs }) =>
        inputs.includes(long)
          ? Response.json({ error: { code: "body_too_large", message: "Too large." } }, { status: 413 })
          : undefined,
    });
    const { embeddings, failed } = await client.embed(["t0", "t1", long, "t3"], { onError: "skip" });
    expect(failed).toMatchObject([{ index: 2, error: { code: "body_too_large", status: 413 } }]);
    expect(embeddings.map((vector) => vector?.[0])).toEqual([0, 1, undefined, 3]);
  });

  it("does not hide errors that concern all texts", async () => {
    const { client } = clientOf({
      respond: () => Response.json({ error: { code: "key_wrong", message: "No." } }, { status: 401 }),
    });
    expect(await failure(client.embed(texts, { onError: "skip" }))).toMatchObject({ code: "key_wrong" });
  });

  it("has no index if the service names a text that was not sent", async () => {
    const { client } = clientOf({ respond: () => refusal(99) });
    expect(await failure(client.embed(texts, { onError: "skip" }))).toMatchObject({ index: undefined });
  });
});

/** Answers as the service and as gateways do. The service says of its own errors whether a retry makes sense. */
const refuse = (status: number, error: unknown, again: boolean) =>
  Response.json({ error }, { status, ...(!again && { headers: { "x-should-retry": "false" } }) });

describe("errors of the service", () => {
  it.each([
    ["503, while the model loads", 503, { code: "model_unavailable", message: "Loading." }, true],
    ["503, without keys", 503, { code: "keys_not_configured", message: "No keys." }, false],
    ["500, a fault of the service", 500, { code: "internal", message: "Fault." }, false],
    ["503, without a valid setting", 503, { code: "setting_invalid", message: "No bucket." }, false],
    ["502, of a proxy", 502, undefined, true],
    ["502, of a gateway with errors of its own", 502, { code: "bad_gateway", message: "Later." }, true],
    ["503, of a gateway with errors of its own", 503, { code: "overloaded", message: "Later." }, true],
    ["429, of the platform", 429, undefined, true],
    ["429, of a rate limiter with errors of its own", 429, { code: "rate_limited", message: "Later." }, true],
    ["429, of a rate limiter that uses a code of ours", 429, { code: "internal", message: "Later." }, true],
  ])("%s", async (_, status, error, again) => {
    const { client, calls } = clientOf({
      respond: ({ number }) => (number === 0 ? refuse(status, error, again) : undefined),
    });
    const result = await afterRetries(() => client.embed("t1"));
    expect(calls).toHaveLength(again ? 2 : 1);
    expect(result).toMatchObject(again ? { embeddings: [vectorOf("t1")] } : { code: error?.code, retryable: false });
  });

  it("keep the code and the message of someone else's JSON", async () => {
    const error = { code: "rate_limited", message: "Ten requests per second." };
    const { client } = clientOf({ maxRetries: 0, respond: () => Response.json({ error }, { status: 429 }) });
    expect(await failure(client.embed("t1"))).toMatchObject({ ...error, name: "RateLimitError", retryable: true });
  });

  it.each([
    ["7", 7_000],
    ["0.5", 500],
    ["0", undefined],
    ["soon", undefined],
    [undefined, undefined],
  ])("have the milliseconds of retry-after: %s", async (value, ms) => {
    const { client } = clientOf({
      maxRetries: 0,
      respond: () => new Response("", { status: 429, headers: value === undefined ? {} : { "retry-after": value } }),
    });
    expect(await failure(client.embed("t1"))).toMatchObject({ name: "RateLimitError", retryAfterMs: ms });
  });

  it("have the milliseconds of retry-after-ms, which are exact", async () => {
    const headers = { "retry-after": "1", "retry-after-ms": "58" };
    const { client } = clientOf({ maxRetries: 0, respond: () => new Response("", { status: 503, headers }) });
    expect(await failure(client.embed("t1"))).toMatchObject({ retryAfterMs: 58 });
  });

  it("have the milliseconds of retry-after if it is a date", async () => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    const { client } = clientOf({
      maxRetries: 0,
      respond: () => new Response("", { status: 503, headers: { "retry-after": date } }),
    });
    const { retryAfterMs } = (await failure(client.embed("t1"))) as { retryAfterMs: number };
    expect(retryAfterMs).toBeGreaterThan(18_000);
    expect(retryAfterMs).toBeLessThanOrEqual(20_000);
  });
});
