import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { signatureOf } from "#test/fixtures/aws-signature.ts";
import { serve } from "#test/fixtures/serve.ts";
import { encodeBytes } from "../contract/vector-text.ts";
import { anyone, callerWith } from "../queue/caller.ts";
import { readBudget, startDeadline } from "../routing/deadline.ts";
import type { RequestTrace } from "../trace.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import type { HttpRegionAddress, RegionTiming } from "./region-settings.ts";
import { connectRegion, type RegionQuery } from "./region-tier.ts";

const PRIOR_MS = 50;
const FIRST_PAUSE_MS = 500;
const PROBE_MS = 30_000;
const VERSION = "0123456789ab";
const VECTORS = [Float32Array.of(0.6, 0.8), Float32Array.of(1, 0)];
const expected: ExpectedAnswer = {
  ...{ model: "tiny", version: VERSION, lengths: [2, 2], norm: "one" as const },
  ...{ tokens: 8, maxTokens: 16, computeMs: 0 },
};

type Answering = (request: Request, clock: { now: number }, signal: AbortSignal) => Response | Promise<Response>;

/** Makes a tier whose region is a function, with a clock that the test controls. */
function setUp(answer: Answering, options: Partial<HttpRegionAddress> & RegionTiming & { busyMs?: () => number } = {}) {
  const clock = { now: 1_000 };
  const requests: Request[] = [];
  const tier = connectRegion({
    url: "https://region.example.com",
    key: "region-key",
    priorMs: PRIOR_MS,
    probeMs: PROBE_MS,
    now: () => clock.now,
    fetch: (async (request: Request, init: RequestInit) => {
      requests.push(request.clone());
      return answer(request, clock, init.signal as AbortSignal);
    }) as typeof fetch,
    ...options,
  });
  const query = (
    changes: Partial<Pick<RegionQuery, "inputs" | "truncate" | "precision">> & {
      budget?: number;
      trace?: RequestTrace;
    } = {},
  ): RegionQuery => ({
    inputs: changes.inputs ?? ["to be", "or not"],
    truncate: changes.truncate ?? false,
    deadline: startDeadline(changes.budget, { now: () => clock.now }),
    precision: changes.precision,
    ...(changes.trace && { trace: changes.trace }),
  });
  /** Predicted milliseconds; undefined while the region is down. */
  const predicted = (computeMs = 0) => {
    const prediction = tier.predict(computeMs);
    return prediction === "down" ? undefined : prediction.ms;
  };
  return { clock, tier, requests, query, predicted };
}

function good(changes: Record<string, unknown> = {}, headers: Record<string, string> = {}): Response {
  return Response.json(
    {
      model: "tiny",
      version: VERSION,
      tier: "region",
      outputs: VECTORS.map(encodeBytes),
      usage: { tokens: 8 },
      ...changes,
    },
    { headers: { "x-bert-edge-provider": "cuda", "server-timing": "compute;dur=4.00, total;dur=4.00", ...headers } },
  );
}

/** Collects background work. */
function collect() {
  const work: Promise<unknown>[] = [];
  return { background: (promise: Promise<unknown>) => void work.push(promise), work };
}

afterEach(() => void vi.restoreAllMocks());

describe("ask", () => {
  it("posts to /v1/outputs with the key, and returns the region's answer", async () => {
    const { tier, requests, query } = setUp((_, clock) => {
      clock.now += 20;
      return good();
    });
    expect(await tier.ask(query({ truncate: true }), expected)).toEqual({
      outputs: VECTORS,
      tokens: 8,
      model: "tiny",
      version: VERSION,
      provider: "cuda",
      timings: { region: 20, "region-compute": 4 },
    });
    const [request] = requests as [Request];
    expect(request.method).toBe("POST");
    expect(request.url).toBe("https://region.example.com/v1/outputs");
    expect(request.headers.get("authorization")).toBe("Bearer region-key");
    expect(request.headers.get("content-type")).toBe("application/json");
    expect(await request.json()).toEqual({
      inputs: ["to be", "or not"],
      truncate: true,
      model: "tiny",
    });
  });

  it("keeps the path of the region's URL", async () => {
    const { tier, requests, query } = setUp(() => good(), { url: "https://example.com/region" });
    await tier.ask(query(), expected);
    expect(requests.map(({ url }) => url)).toEqual(["https://example.com/region/v1/outputs"]);
  });

  it("forwards the remaining budget without the time on the network", async () => {
    const { tier, clock, requests, query } = setUp(() => good());
    const started = query({ budget: 100 });
    clock.now += 30.04;
    await tier.ask(started, expected);
    expect(requests[0]?.headers.get("x-latency-budget-ms")).toBe((70 - PRIOR_MS).toFixed(1));
  });

  it("forwards a positive budget, even if none is left", async () => {
    const { tier, clock, requests, query } = setUp(() => good());
    const started = query({ budget: 10 });
    clock.now += 500;
    await tier.ask(started, expected);
    expect(readBudget({ header: requests[0]?.headers.get("x-latency-budget-ms") as string })).toBe(0.1);
  });

  it("forwards the names of the request", async () => {
    const { tier, requests, query } = setUp(() => good());
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await tier.ask(query({ trace: { requestId: "r-1", traceparent } }), expected);
    expect(requests[0]?.headers.get("x-request-id")).toBe("r-1");
    expect(requests[0]?.headers.get("traceparent")).toMatch(/^00-a{32}-(?!b{16})[0-9a-f]{16}-01$/);
  });

  it("forwards the lowest precision that may answer", async () => {
    const { tier, requests, query } = setUp(() => good());
    await tier.ask(query({ precision: "fp16" }), expected);
    expect(requests[0]?.headers.get("x-bert-edge-precision")).toBe("fp16");
  });

  it("names the caller, so that callers take turns in the region", async () => {
    const { tier, requests, query } = setUp(() => good());
    await tier.ask({ ...query(), caller: callerWith({ name: "web" }) }, expected);
    await tier.ask({ ...query(), caller: callerWith({ name: "web" }, "alice") }, expected);
    await tier.ask({ ...query(), caller: callerWith({ name: "" }, "alice") }, expected);
    await tier.ask({ ...query(), caller: anyone }, expected);
    const names = requests.map(({ headers }) => headers.get("x-bert-edge-caller"));
    expect(names).toEqual(["web", "web", "alice", null]);
  });

  it("forwards neither a budget nor a precision without one", async () => {
    const { tier, requests, query } = setUp(() => good());
    await tier.ask(query(), expected);
    expect(requests[0]?.headers.has("x-latency-budget-ms")).toBe(false);
    expect(requests[0]?.headers.has("x-bert-edge-precision")).toBe(false);
  });

  it("keeps texts unchanged, including lone surrogates and control characters", async () => {
    const texts = ["\ud800", '\0\u2028"\\'];
    const { tier, requests, query } = setUp(() => good());
    await tier.ask(query({ inputs: texts }), expected);
    expect(await requests[0]?.json()).toMatchObject({ inputs: texts });
  });

  it.each([2, 32])(
    "accepts a count of %d tokens for two texts while the edge has not tokenized them",
    async (tokens) => {
      const { tier, query } = setUp(() => good({ usage: { tokens } }));
      expect(await tier.ask(query(), { ...expected, tokens: undefined })).toMatchObject({ tokens });
    },
  );

  it.each([1, 33])("accepts no count of %d tokens for two texts of at most 16 tokens", async (tokens) => {
    const { tier, query } = setUp(() => good({ usage: { tokens } }));
    const answer = tier.ask(query(), { ...expected, tokens: undefined });
    await expect(answer).rejects.toMatchObject({ code: "region_failed", message: expect.stringContaining("2 to 32") });
  });

  it("accepts vectors of any length for a model that does not normalize them", async () => {
    const vectors = [Float32Array.of(3, 4), Float32Array.of(1e-20, 0)];
    const { tier, query } = setUp(() => embeddings(...vectors));
    expect(await tier.ask(query(), { ...expected, norm: "not-zero" })).toMatchObject({ outputs: vectors });
  });

  it.each(["cuda", "cpu", "a-1", "x".repeat(32)])("passes on the provider %s", async (provider) => {
    const { tier, query } = setUp(() => good({}, { "x-bert-edge-provider": provider }));
    expect(await tier.ask(query(), expected)).toMatchObject({ provider });
  });

  it.each(["x".repeat(33), "CUDA", "a b", "<b>", "x".repeat(5_000)])("hides the provider %j", async (provider) => {
    const { tier, query } = setUp(() => good({}, { "x-bert-edge-provider": provider }));
    expect(await tier.ask(query(), expected)).toMatchObject({ provider: "unknown" });
  });

  it("reports an unknown provider when the region names none", async () => {
    const { tier, query } = setUp(() =>
      Response.json(
        JSON.parse('{"model":"tiny","version":"0123456789ab","outputs":["AACAPwAAAAA="],"usage":{"tokens":3}}'),
      ),
    );
    expect(await tier.ask(query({ inputs: ["a"] }), { ...expected, lengths: [2], tokens: 3 })).toMatchObject({
      provider: "unknown",
      timings: { "region-compute": 0 },
    });
  });
});

describe("a region on AWS", () => {
  const aws = { accessKeyId: "AKIA", secretAccessKey: "aws-secret", region: "eu-central-1" };
  const trace = { requestId: "r-1", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };

  /** Starts a region that checks signatures as AWS does, and lists what it was asked. */
  async function signedRegion() {
    const asked: IncomingHttpHeaders[] = [];
    const url = await serve(async (request, response) => {
      const body = await text(request);
      asked.push(request.headers);
      const isSigned = request.headers.authorization === signatureOf(request, aws.secretAccessKey, body);
      const answer = request.url === "/ready" ? "{}" : await good().text();
      response.writeHead(isSigned ? 200 : 403).end(isSigned ? answer : "");
    });
    return { url, asked };
  }

  it("gets signed requests and probes, and the key in x-api-key", async () => {
    const { url, asked } = await signedRegion();
    const { tier, query } = setUp(() => good(), { url, aws, fetch });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(tier.predict(0)).not.toBe("down");
    expect(await tier.ask(query({ budget: 9_000, trace }), expected)).toMatchObject({ tokens: 8 });
    expect(asked).toMatchObject([{}, { "x-api-key": "region-key", "x-request-id": "r-1" }]);
    expect(asked[1]?.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-central-1\/lambda\/aws4_request/,
    );
    expect(asked[1]?.authorization).not.toMatch(/traceparent|x-request-id|x-latency-budget-ms/);
    expect(asked[0]).not.toHaveProperty("x-api-key");
  });

  it("needs no key of its own", async () => {
    const { url, asked } = await signedRegion();
    const { tier, query } = setUp(() => good(), { url, key: "", aws, fetch });
    await tier.ask(query(), expected);
    expect(asked[0]).not.toHaveProperty("x-api-key");
  });

  it("is signed for the AWS region in its URL", async () => {
    const { accessKeyId, secretAccessKey } = aws;
    const url = "https://abc.lambda-url.ap-south-1.on.aws";
    const { tier, requests, query } = setUp(() => good(), { url, aws: { accessKeyId, secretAccessKey } });
    await tier.ask(query(), expected);
    expect(requests[0]?.headers.get("authorization")).toContain("/ap-south-1/lambda/aws4_request");
  });

  it("refuses a wrong secret, which appears in no error", async () => {
    const { url } = await signedRegion();
    const { tier, query } = setUp(() => good(), { url, aws: { ...aws, secretAccessKey: "wrong-secret" }, fetch });
    const error = await tier.ask(query(), expected).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "region_failed" });
    expect(inspect(error)).not.toMatch(/wrong-secret|region-key/);
  });
});

describe("a region that does not serve a model", () => {
  it("is not asked for it again for a minute, but for other models", async () => {
    const { tier, clock, query, requests } = setUp(() => error(404, "model_unknown"));
    const { model } = expected;
    for (let request = 0; request < 3; request++) {
      clock.now += 60_000;
      expect(tier.predict(0, { model })).not.toBe("down");
      await expect(tier.ask(query(), expected)).rejects.toMatchObject({
        code: "region_failed",
        message: "The region at region.example.com does not serve the model.",
      });
      expect(tier.predict(0, { model })).toBe("down");
      expect(tier.predict(0, { model: "other" })).not.toBe("down");
    }
    expect(requests).toHaveLength(3);
  });
});

describe("the wait for an answer", () => {
  const timeouts = () => vi.spyOn(AbortSignal as { timeout(ms: number): AbortSignal }, "timeout");

  it.each([
    ["timeoutMs without a budget", undefined, 0, 10_000],
    ["the remaining budget", 3000, 0, 3_000],
    ["the remaining budget in whole milliseconds, which Node requires", 3000.2, 0, 3_001],
    ["at most timeoutMs", 60000, 0, 10_000],
    ["at least four times the prediction", 1, 0, 4 * PRIOR_MS],
    ["at least four times the prediction, computation included", 1, 25, 4 * (PRIOR_MS + 1.25 * 25)],
    ["longer than timeoutMs for a long computation, as of 2,048 texts", undefined, 7_960, 40_000],
    ["longer than timeoutMs for a long computation with a budget", 60000, 7_960, 40_000],
  ])("is %s", async (_, budget, computeMs, ms) => {
    const timeout = timeouts();
    const { tier, query } = setUp(() => good());
    await tier.ask(query({ ...(budget !== undefined && { budget }) }), { ...expected, computeMs });
    expect(timeout).toHaveBeenCalledExactlyOnceWith(ms);
  });

  it("is at least 100 ms, so that a pause of the machine does not count as a failure", async () => {
    const timeout = timeouts();
    const { tier, query } = setUp(() => good(), { priorMs: 1 });
    await tier.ask(query({ budget: 1 }), expected);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(100);
  });
});

describe("an invalid request", () => {
  it("fails with the region's own error, and the region does not count as failed", async () => {
    const refusal = {
      ...{ code: "input_too_long", message: "Input 1 has 900 tokens.", hint: "Send shorter texts." },
      index: 1,
    };
    const { tier, query, predicted } = setUp(() => Response.json({ error: refusal }, { status: 400 }));
    for (let request = 0; request < 3; request++) {
      await expect(tier.ask(query(), expected)).rejects.toMatchObject(refusal);
    }
    expect(predicted()).toBe(PRIOR_MS);
  });

  it("shows callers at most 500 characters of each of the region's texts", async () => {
    const [message, hint] = ["m".repeat(3_000), "h".repeat(3_000)];
    const { tier, query } = setUp(() =>
      Response.json({ error: { code: "input_empty", message, hint } }, { status: 400 }),
    );
    await expect(tier.ask(query(), expected)).rejects.toMatchObject({
      message: message.slice(0, 500),
      hint: hint.slice(0, 500),
    });
  });

  it("fails with the region's own error even without a hint", async () => {
    const { tier, query } = setUp(() =>
      Response.json({ error: { code: "input_empty", message: "Empty." } }, { status: 400 }),
    );
    await expect(tier.ask(query(), expected)).rejects.toMatchObject({
      ...{ code: "input_empty", hint: undefined, index: undefined },
    });
  });
});

const embeddings = (...vectors: Float32Array<ArrayBuffer>[]) => good({ outputs: vectors.map(encodeBytes) });
const endless = (piece: string, status = 200) =>
  new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode(piece)) }), { status });
const error = (status: number, code: string, fields: object = {}) =>
  Response.json({ error: { code, message: "", ...fields } }, { status });
const redirect = (status: number) =>
  new Response(null, { status, headers: { location: "https://elsewhere.example.com" } });

/** Wrong answers of a region. */
const hostileAnswers: [string, () => Response][] = [
  ["that refuses the key", () => error(401, "key_wrong")],
  ["that forbids access", () => new Response("forbidden", { status: 403 })],
  ["that failed", () => error(500, "internal")],
  ["that has an endless error page", () => endless("<html>", 500)],
  ["behind a broken gateway", () => new Response("<html>", { status: 502 })],
  ["that is loading", () => error(503, "model_unavailable")],
  ["behind a gateway without machines", () => new Response("<html>", { status: 503, headers: { "retry-after": "1" } })],
  ["behind a gateway that ran out of time", () => new Response("<html>", { status: 504 })],
  ["whose gateway refuses with an HTML page", () => new Response("<html>", { status: 400 })],
  ["that refuses with an endless body", () => endless(" ", 400)],
  ["that refuses with an unknown code", () => error(400, "teapot")],
  ["that refuses with a code for its own faults", () => error(400, "internal")],
  ["that refuses a text that it was not sent", () => error(400, "input_empty", { index: 2 })],
  ["that refuses a text with a negative index", () => error(400, "input_empty", { index: -1 })],
  ["that refuses without a message", () => Response.json({ error: { code: "input_empty" } }, { status: 400 })],
  ...[301, 302, 303, 307, 308].map((status): [string, () => Response] => [
    `that redirects with ${status}`,
    () => redirect(status),
  ]),
  ["that answers 304", () => new Response(null, { status: 304 })],
  ["that answers 204", () => new Response(null, { status: 204 })],
  ["that does not answer JSON", () => new Response("<html>")],
  ["that answers an empty body", () => new Response("")],
  ["that answers null", () => Response.json(null)],
  ["that answers JSON of another form", () => Response.json({ outputs: [[0.6, 0.8]] })],
  ["that answers JSON which breaks off", () => new Response('{"model":"tiny","version":"0123')],
  ["that answers without an end", () => endless('{"model":')],
  ["that answers deeply nested JSON", () => new Response("[".repeat(4_000))],
  ["that declares 300 MB", () => new Response("{}", { headers: { "content-length": "300000000" } })],
  ["that pads its answer to 300 kB", () => good({ padding: " ".repeat(300_000) })],
  ["that answers numbers instead of base64", () => good({ outputs: VECTORS.map((vector) => [...vector]) })],
  ["that answers text that is not base64", () => good({ outputs: ["%%%%%%%%%%%%", "%%%%%%%%%%%%"] })],
  ["that answers bytes that are not whole numbers", () => good({ outputs: ["AAAA", "AAAA"] })],
  [
    "that answers base64 of the right length with fewer bytes",
    () => good({ outputs: ["AACAPwAAAA==", "AACAPwAAAA=="] }),
  ],
  ["that answers huge base64", () => good({ outputs: ["A".repeat(4_000), "AACAPwAAAAA="] })],
  ["that serves another model", () => good({ model: "other" })],
  ["that names no valid model", () => good({ model: "x".repeat(2_000) })],
  ["that serves another version", () => good({ version: "ffffffffffff" })],
  ["that names no valid version", () => good({ version: "fff" })],
  ["that answers fewer vectors than texts", () => embeddings(Float32Array.of(1, 0))],
  ["that answers more vectors than texts", () => embeddings(...VECTORS, Float32Array.of(1, 0))],
  ["that answers no vectors", () => good({ outputs: [] })],
  ["that answers vectors of another size", () => embeddings(Float32Array.of(1, 0, 0), Float32Array.of(1, 0, 0))],
  ["that answers one vector of another size", () => embeddings(Float32Array.of(1, 0), Float32Array.of(1))],
  ["that answers an empty vector", () => embeddings(Float32Array.of(1, 0), Float32Array.of())],
  ["that answers NaN", () => embeddings(Float32Array.of(1, 0), Float32Array.of(Number.NaN, 1))],
  ["that answers infinity", () => embeddings(Float32Array.of(1, 0), Float32Array.of(Number.NEGATIVE_INFINITY, 0))],
  ["that answers a vector that is too long", () => embeddings(Float32Array.of(1, 0), Float32Array.of(0.72, 0.71))],
  ["that answers a vector that is too short", () => embeddings(Float32Array.of(1, 0), Float32Array.of(0.7, 0.71))],
  ["that answers huge numbers", () => embeddings(Float32Array.of(1, 0), Float32Array.of(1e30, 0))],
  ["that answers a zero vector", () => embeddings(Float32Array.of(1, 0), new Float32Array(2))],
  ["that counts -5.5 tokens", () => good({ usage: { tokens: -5.5 } })],
  ["that counts half a token", () => good({ usage: { tokens: 8.5 } })],
  ["that counts fewer tokens than the edge", () => good({ usage: { tokens: 7 } })],
  ["that counts more tokens than the edge", () => good({ usage: { tokens: 9 } })],
  ["that counts tokens in words", () => good({ usage: { tokens: "8" } })],
  ["that counts no tokens", () => good({ usage: {} })],
];

const lostAnswers: [string, Answering][] = [
  ["that cannot be reached", () => Promise.reject(new TypeError("fetch failed"))],
  [
    "whose body breaks off",
    () => new Response(new ReadableStream({ pull: (stream) => stream.error(new TypeError("terminated")) })),
  ],
];

describe.each<[string, Answering]>([...hostileAnswers, ...lostAnswers])("a region %s", (_, answer) => {
  it("is reported as region_failed, without its key", async () => {
    const { tier, query } = setUp(answer);
    const error = await tier.ask(query(), expected).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "region_failed" });
    expect((error as Error).message.length).toBeLessThan(600);
    expect(inspect(error)).not.toContain("region-key");
  });

  it("does not change the estimate", async () => {
    const { tier, clock, query, predicted } = setUp((request, time) => {
      time.now += 500;
      return answer(request, clock, AbortSignal.abort());
    });
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    await tier.ask(query(), expected).catch(() => {});
    expect(predicted() ?? PRIOR_MS).toBe(PRIOR_MS);
    log.mockRestore();
  });
});

/** Packs a response as `POST /invocations` does, and SageMaker passes it on. Redirects come from elsewhere. */
function throughSageMaker(response: Response): Response {
  const { status, headers, body } = response;
  if (status < 400 && !response.ok) return response;
  const attributes = new URLSearchParams([...(response.ok ? [] : [["status", `${status}`]]), ...headers]);
  return new Response(body, {
    status: body ? 200 : status,
    headers: { "x-amzn-sagemaker-custom-attributes": `${attributes}` },
  });
}

describe.each<[string, Answering]>([...hostileAnswers, ...lostAnswers])("a region on SageMaker %s", (_, answer) => {
  it("is reported as region_failed, without its secret", async () => {
    const aws = { accessKeyId: "AKIA", secretAccessKey: "aws-secret", region: "eu-central-1", service: "sagemaker" };
    const { tier, requests, query } = setUp(async (...args) => throughSageMaker(await answer(...args)), { aws });
    const error = await tier.ask(query(), expected).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "region_failed" });
    expect(inspect(error)).not.toMatch(/aws-secret|region-key/);
    expect(requests.map(({ url }) => url)).toEqual(["https://region.example.com/invocations"]);
    expect(inspect([...(requests[0]?.headers ?? [])])).not.toMatch(/aws-secret|region-key/);
  });
});

it.each([
  [401, "Check REGION_KEY and the region's log."],
  [403, "Check REGION_KEY, or `aws` if the region accepts only signed requests, and the region's log."],
  [404, "Check REGION_URL and the region's log."],
])("after HTTP %d, the hint names what is probably wrong", async (status, hint) => {
  const { tier, query } = setUp(() => new Response("", { status }));
  await expect(tier.ask(query(), expected)).rejects.toMatchObject({ code: "region_failed", hint });
});

it.each(hostileAnswers)(
  "a region %s is down at once, and only a probe is sent before the next request",
  async (_, answer) => {
    let isWrong = true;
    const { tier, clock, requests, query, predicted } = setUp(() => (isWrong ? answer() : good()));
    const { background, work } = collect();
    await tier.ask(query(), expected).catch(() => {});
    expect(tier.predict(0)).toBe("down");
    tier.keepMeasured(background);
    expect(work).toHaveLength(0);

    clock.now += FIRST_PAUSE_MS;
    expect(tier.predict(0)).toBe("down");
    isWrong = false;
    tier.keepMeasured(background);
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(["/v1/outputs", "/ready"]);
    expect(predicted()).toBe(0);
  },
);

describe("a region that loses an answer", () => {
  it.each(lostAnswers)("%s is down after the second one", async (_, answer) => {
    const { tier, query } = setUp(answer);
    await tier.ask(query(), expected).catch(() => {});
    expect(tier.predict(0)).not.toBe("down");
    await tier.ask(query(), expected).catch(() => {});
    expect(tier.predict(0)).toBe("down");
  });

  it("is probed at once", async () => {
    const { tier, requests, query } = setUp(({ url }) => {
      if (url.endsWith("/ready")) return new Response("ok");
      throw new TypeError("fetch failed");
    });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    await tier.ask(query(), expected).catch(() => {});
    tier.keepMeasured(background);
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual(["/ready", "/v1/outputs", "/ready"]);
  });
});

describe("a region that is overloaded", () => {
  const overloaded = (status: number, headers = {}) =>
    Response.json({ error: { code: "overloaded", message: "" } }, { status, headers });

  it.each<[string, Response, number]>([
    ["503 with retry-after-ms", overloaded(503, { "retry-after": "1", "retry-after-ms": "300" }), 300],
    ["503 with retry-after", overloaded(503, { "retry-after": "2" }), 2_000],
    ["503 with a longer queue", overloaded(503, { "retry-after-ms": "300", "x-bert-edge-queue-ms": "700.5" }), 700.5],
    ["503 with a shorter queue", overloaded(503, { "retry-after-ms": "300", "x-bert-edge-queue-ms": "7" }), 7],
    ["429 with a queue only", overloaded(429, { "x-bert-edge-queue-ms": "200" }), 200],
    ["503 with a queue that is no number", overloaded(503, { "retry-after": "2", "x-bert-edge-queue-ms": "-" }), 2_000],
    ["429 of a gateway", new Response("slow down", { status: 429 }), 1_000],
    ["429 with a date", overloaded(429, { "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }), 1_000],
    ["a wait of a year", overloaded(503, { "retry-after": "31536000" }), 60_000],
  ])("is not down, but predicted to be busy for the time that it asks for: %s", async (_, response, waitMs) => {
    const { tier, clock, query, predicted } = setUp(() => response);
    await expect(tier.ask(query(), expected)).rejects.toMatchObject({ code: "region_overloaded" });
    expect(predicted()).toBe(PRIOR_MS + waitMs);
    clock.now += waitMs;
    expect(predicted()).toBe(PRIOR_MS);
  });

  it.each([
    ["1000000000", 60_000],
    ["Infinity", 1_000],
  ])("passes on a wait of at most a minute: %s", async (wait, retryAfterMs) => {
    const { tier, query } = setUp(() => overloaded(503, { "retry-after": wait }));
    await expect(tier.ask(query(), expected)).rejects.toMatchObject({ code: "region_overloaded", retryAfterMs });
  });

  it("is not down when it refuses a probe", async () => {
    const { tier, predicted } = setUp(() => new Response("", { status: 429 }));
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(predicted()).toBe(PRIOR_MS + 1_000);
  });

  it("is not down when it has no time within the budget", async () => {
    const { tier, query, predicted } = setUp(() => error(504, "budget_exceeded"));
    await expect(tier.ask(query({ budget: 1 }), expected)).rejects.toMatchObject({ code: "region_overloaded" });
    expect(predicted()).toBe(PRIOR_MS);
  });
});

describe("a region that does not answer", () => {
  const silent: Answering = (_request, _clock, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

  it("fails after timeoutMs", async () => {
    const { tier, query } = setUp(silent, { timeoutMs: 1 });
    for (let request = 0; request < 2; request++) {
      await expect(tier.ask(query(), expected)).rejects.toMatchObject({
        code: "region_failed",
        cause: { name: "TimeoutError" },
      });
    }
    expect(tier.predict(0)).toBe("down");
  });

  it("is not counted while the edge itself was busy", async () => {
    const late: Answering = (_, clock) => {
      clock.now += 5_000;
      throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    };
    let [busyMs, isBusy] = [0, true];
    const { tier, query } = setUp(
      (request, clock, number) => {
        if (isBusy) busyMs += 4_950;
        return late(request, clock, number);
      },
      { busyMs: () => busyMs },
    );
    for (let request = 0; request < 3; request++) await tier.ask(query({ budget: 1 }), expected).catch(() => {});
    expect(tier.predict(0)).not.toBe("down");
    isBusy = false;
    for (let request = 0; request < 2; request++) await tier.ask(query({ budget: 1 }), expected).catch(() => {});
    expect(tier.predict(0)).toBe("down");
  });

  it("is not counted when the caller has gone", async () => {
    const { tier, query } = setUp(silent);
    const reason = new Error("gone");
    for (let request = 0; request < 3; request++) {
      const caller = new AbortController();
      const answer = tier.ask(query(), expected, { signal: caller.signal });
      caller.abort(reason);
      await expect(answer).rejects.toBe(reason);
    }
    expect(tier.predict(0)).not.toBe("down");
  });

  it("is not asked for a caller who has gone before", async () => {
    const { tier, requests, query } = setUp(() => good());
    await expect(tier.ask(query(), expected, { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(requests).toHaveLength(0);
  });
});

describe("the estimate", () => {
  it("learns the overhead and the slowdown from answers", async () => {
    const { tier, query, predicted } = setUp((_, clock) => {
      clock.now += 20;
      return good();
    });
    expect(predicted(2)).toBe(PRIOR_MS + 2);
    for (let request = 0; request < 2; request++) await tier.ask(query(), { ...expected, computeMs: 2 });
    // The region computed for 4 of the 20 ms. The prediction was 2 ms, so the slowdown is 2.
    expect(predicted(2)).toBe(16 + 2 * 2);
  });

  it.each([
    ["its predicted wait", { "x-bert-edge-queue-ms": "30" }, 30],
    ["the wait of this request", {}, 7],
    ["no wait, if the header is not a number", { "x-bert-edge-queue-ms": "soon" }, 7],
  ])("separates the region's queue from the network, and counts %s", async (_, headers, waitMs) => {
    const { tier, query, predicted } = setUp((_, clock) => {
      clock.now += 20;
      return good({}, { "server-timing": "queue;dur=7, compute;dur=4, total;dur=12", ...headers });
    });
    await tier.ask(query(), { ...expected, computeMs: 2 });
    const { timings } = await tier.ask(query(), { ...expected, computeMs: 2 });
    expect(timings).toEqual({ region: 20, "region-queue": 7, "region-compute": 4 });
    expect(predicted(2)).toBe(20 - 12 + waitMs + 2 * 2);
  });

  it.each([
    ["a dot without digits", "compute;dur=."],
    ["NaN", "compute;dur=NaN"],
    ["a number beyond the range of doubles", `compute;dur=${"9".repeat(400)}`],
    ["more milliseconds than the whole fetch", "compute;dur=99999"],
    ["text without a duration", "garbage"],
  ])("ignores or limits a reported time with %s", async (_, timing) => {
    const { tier, query, predicted } = setUp((_, clock) => {
      clock.now += 20;
      return good({}, { "server-timing": timing });
    });
    await tier.ask(query(), { ...expected, computeMs: 2 });
    // The overhead is at most 20 ms, and the slowdown does not raise the predicted 2 ms.
    expect(predicted(2)).toBeLessThanOrEqual(22);
    await expect(tier.ask(query({ budget: 30 }), expected)).resolves.toMatchObject({ tokens: 8 });
  });
});

describe("keepMeasured", () => {
  it("probes /ready without the key, and learns the network time from it", async () => {
    const { tier, requests, predicted } = setUp((_, clock) => {
      clock.now += 12;
      return Response.json({ status: "ok" });
    });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET https://region.example.com/ready"]);
    expect(requests[0]?.headers.has("authorization")).toBe(false);
    expect(predicted()).toBe(12);
  });

  it("probes again only when the last measurement is old", async () => {
    const { tier, clock, requests, query } = setUp(({ url }) => (url.endsWith("/ready") ? new Response("ok") : good()));
    const { background, work } = collect();
    const keepMeasured = async () => {
      tier.keepMeasured(background);
      await Promise.all(work);
    };
    await keepMeasured();
    clock.now += PROBE_MS - 1;
    await keepMeasured();
    expect(requests).toHaveLength(1);
    clock.now += 1;
    await keepMeasured();
    expect(requests).toHaveLength(2);

    clock.now += PROBE_MS - 1;
    await tier.ask(query(), expected);
    clock.now += PROBE_MS - 1;
    await keepMeasured();
    expect(requests.filter(({ url }) => url.endsWith("/ready"))).toHaveLength(2);
  });

  it("does not learn the slowdown from probes", async () => {
    const { tier, query, predicted } = setUp(({ url }, clock) => {
      clock.now += 10;
      return url.endsWith("/ready") ? new Response("ok") : good();
    });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    await tier.ask(query(), { ...expected, computeMs: 40 });
    // The region computed for 4 ms instead of 40, so the slowdown is 0.1. The network took 10 - 4 = 6 ms, which is 4 ms less
    // than before. The estimate falls by half of these 4 ms.
    expect(predicted(40)).toBe(10 - 4 / 2 + 0.1 * 40);
    expect(tier.predict(0)).toMatchObject({ spreadMs: 0 });
  });

  it.each<[string, number, Answering]>([
    ["answers with an error", 1, () => new Response("", { status: 503 })],
    ["redirects", 1, () => redirect(307)],
    ["cannot be reached", 2, () => Promise.reject(new TypeError("fetch failed"))],
  ])("does not fail when the region %s, and logs once that it is down", async (_, probes, answer) => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const { tier, clock } = setUp(answer);
    const { background, work } = collect();
    for (let probe = 0; probe < probes; probe++) {
      expect(tier.predict(0)).toMatchObject({ ms: PRIOR_MS });
      tier.keepMeasured(background);
      await Promise.all(work);
    }
    expect(work).toHaveLength(probes);
    expect(tier.predict(0)).toBe("down");
    expect(log).toHaveBeenCalledOnce();

    clock.now += FIRST_PAUSE_MS;
    tier.keepMeasured(background);
    await Promise.all(work);
    clock.now += FIRST_PAUSE_MS;
    tier.keepMeasured(background);
    expect(work).toHaveLength(probes + 1);
    expect(tier.predict(0)).toBe("down");
  });

  it("starts another probe when one was stopped with its request", () => {
    const { tier, clock } = setUp(() => new Promise(() => {}), { timeoutMs: 1_000, probeMs: 500 });
    const { background, work } = collect();
    tier.keepMeasured(background);
    clock.now += 999;
    tier.keepMeasured(background);
    expect(work).toHaveLength(1);
    clock.now += 1;
    tier.keepMeasured(background);
    expect(work).toHaveLength(2);
  });
});

it("does not count a request that the region refused as too large", async () => {
  const { tier, query, predicted } = setUp(() => new Response("", { status: 413 }));
  for (let request = 0; request < 3; request++) {
    await expect(tier.ask(query(), expected)).rejects.toMatchObject({ code: "region_failed" });
  }
  expect(predicted()).toBe(PRIOR_MS);
});

it("refuses an invalid URL at once, and names the setting", () => {
  expect(() => setUp(() => good(), { url: "region.example.com" })).toThrow(
    expect.objectContaining({ code: "setting_invalid", hint: expect.stringContaining("REGION_URL") }),
  );
});
