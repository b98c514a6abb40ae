import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeFloats } from "./contract/base64.ts";
import type { ExpectedAnswer } from "./region-answer.ts";
import { type RegionTierOptions, regionTier } from "./region-tier.ts";
import { startDeadline } from "./routing/deadline.ts";
import type { EmbedQuery } from "./service.ts";

const PRIOR_MS = 50;
const REST_MS = 5_000;
const PROBE_MS = 30_000;
const VERSION = "0123456789ab";
const VECTORS = [Float32Array.of(0.6, 0.8), Float32Array.of(1, 0)];
const expected: ExpectedAnswer = { model: "tiny", version: VERSION, dimensions: 2, computeMs: 0 };

type Answering = (request: Request, clock: { now: number }) => Response | Promise<Response>;

/** Makes a tier whose region is a function, with a clock that the test controls. */
function setUp(answer: Answering, options: Partial<RegionTierOptions> = {}) {
  const clock = { now: 1_000 };
  const requests: Request[] = [];
  const tier = regionTier({
    url: "https://region.example.com",
    key: "region-key",
    priorMs: PRIOR_MS,
    restMs: REST_MS,
    probeMs: PROBE_MS,
    now: () => clock.now,
    // The options in `init` override those of `request`, as in the real `fetch`.
    fetch: (async (request: Request, init: RequestInit) => {
      requests.push(request.clone());
      return answer(new Request(request, init), clock);
    }) as typeof fetch,
    ...options,
  });
  const query = (changes: { texts?: string[]; truncate?: boolean; budget?: string } = {}): EmbedQuery => ({
    texts: changes.texts ?? ["to be", "or not"],
    truncate: changes.truncate ?? false,
    model: undefined,
    dimensions: undefined,
    deadline: startDeadline(changes.budget, () => clock.now),
  });
  return { clock, tier, requests, query };
}

function good(changes: Record<string, unknown> = {}, headers: Record<string, string> = {}): Response {
  return Response.json(
    {
      model: "tiny",
      version: VERSION,
      tier: "region",
      embeddings: VECTORS.map(encodeFloats),
      usage: { tokens: 8 },
      ...changes,
    },
    { headers: { "x-bert-edge-provider": "cuda", "server-timing": "compute;dur=4.00, total;dur=5.00", ...headers } },
  );
}

afterEach(() => void vi.restoreAllMocks());

describe("embed", () => {
  it("posts to /v1/embed with the key, and returns the region's answer", async () => {
    const { tier, requests, query } = setUp((_, clock) => {
      clock.now += 20;
      return good();
    });
    expect(await tier.embed(query({ truncate: true }), expected)).toEqual({
      vectors: VECTORS,
      tokens: 8,
      model: "tiny",
      version: VERSION,
      provider: "cuda",
      timings: { region: 20, "region-compute": 4 },
    });
    const [request] = requests as [Request];
    expect(request.method).toBe("POST");
    expect(request.url).toBe("https://region.example.com/v1/embed");
    expect(request.headers.get("authorization")).toBe("Bearer region-key");
    expect(request.headers.get("content-type")).toBe("application/json");
    expect(await request.json()).toEqual({
      inputs: ["to be", "or not"],
      truncate: true,
      model: "tiny",
      encoding_format: "base64",
    });
  });

  it("keeps the path of the region's URL", async () => {
    const { tier, requests, query } = setUp(() => good(), { url: "https://example.com/region" });
    await tier.embed(query(), expected);
    expect(requests.map(({ url }) => url)).toEqual(["https://example.com/region/v1/embed"]);
  });

  it("forwards the remaining budget", async () => {
    const { tier, clock, requests, query } = setUp(() => good());
    const started = query({ budget: "100" });
    clock.now += 30.04;
    await tier.embed(started, expected);
    expect(requests[0]?.headers.get("x-latency-budget-ms")).toBe("70.0");
  });

  it("forwards a positive budget even if none is left", async () => {
    const { tier, clock, requests, query } = setUp(() => good());
    const started = query({ budget: "10" });
    clock.now += 500;
    await tier.embed(started, expected);
    const forwarded = requests[0]?.headers.get("x-latency-budget-ms") as string;
    expect(startDeadline(forwarded, () => 0).remainingMs()).toBe(0.1);
  });

  it("forwards no budget without one", async () => {
    const { tier, requests, query } = setUp(() => good());
    await tier.embed(query(), expected);
    expect(requests[0]?.headers.has("x-latency-budget-ms")).toBe(false);
  });

  it("keeps texts unchanged, including lone surrogates and control characters", async () => {
    const texts = ["\ud800", '\0\u2028"\\'];
    const { tier, requests, query } = setUp(() => good());
    await tier.embed(query({ texts }), expected);
    expect(await requests[0]?.json()).toMatchObject({ inputs: texts });
  });

  it("accepts any version while the edge has not loaded its model", async () => {
    const { tier, query } = setUp(() => good({ version: "ffffffffffff" }));
    const answer = await tier.embed(query(), { ...expected, version: undefined, dimensions: undefined });
    expect(answer.version).toBe("ffffffffffff");
  });

  it("accepts any vector size while the edge has not loaded its model", async () => {
    const { tier, query } = setUp(() => embeddings(Float32Array.of(1, 0, 0)));
    const answer = await tier.embed(query({ texts: ["a"] }), {
      ...expected,
      version: undefined,
      dimensions: undefined,
    });
    expect(answer.vectors).toEqual([Float32Array.of(1, 0, 0)]);
  });

  it("reports an unknown provider when the region names none", async () => {
    const { tier, query } = setUp(() =>
      Response.json(
        JSON.parse('{"model":"tiny","version":"0123456789ab","embeddings":["AACAPwAAAAA="],"usage":{"tokens":3}}'),
      ),
    );
    expect(await tier.embed(query({ texts: ["a"] }), expected)).toMatchObject({
      provider: "unknown",
      timings: { "region-compute": 0 },
    });
  });
});

describe("the wait for an answer", () => {
  const timeouts = () => vi.spyOn(AbortSignal as { timeout(ms: number): AbortSignal }, "timeout");

  it.each([
    ["timeoutMs without a budget", undefined, 0, 10_000],
    ["the remaining budget", "3000", 0, 3_000],
    ["the remaining budget in whole milliseconds, which Node requires", "3000.2", 0, 3_001],
    ["at most timeoutMs", "60000", 0, 10_000],
    ["at least four times the prediction", "1", 0, 4 * PRIOR_MS],
    ["at least four times the prediction, computation included", "1", 25, 4 * (PRIOR_MS + 25)],
    ["longer than timeoutMs for a long computation, as of 2,048 texts", undefined, 9_950, 40_000],
    ["longer than timeoutMs for a long computation with a budget", "60000", 9_950, 40_000],
  ])("is %s", async (_, budget, computeMs, ms) => {
    const timeout = timeouts();
    const { tier, query } = setUp(() => good());
    await tier.embed(query({ ...(budget && { budget }) }), { ...expected, computeMs });
    expect(timeout).toHaveBeenCalledExactlyOnceWith(ms);
  });

  it("is at least 100 ms, so that a pause of the machine does not count as a failure", async () => {
    const timeout = timeouts();
    const { tier, query } = setUp(() => good(), { priorMs: 1 });
    await tier.embed(query({ budget: "1" }), expected);
    expect(timeout).toHaveBeenCalledExactlyOnceWith(100);
  });
});

describe("an invalid request", () => {
  it("fails with the region's own error, and the region stays usable", async () => {
    const refusal = {
      ...{ code: "input_too_long", message: "Input 1 has 900 tokens.", hint: "Send shorter texts." },
      index: 1,
    };
    const { tier, query } = setUp(() => Response.json({ error: refusal }, { status: 400 }));
    await expect(tier.embed(query(), expected)).rejects.toMatchObject(refusal);
    expect(tier.usable()).toBe(true);
  });

  it("fails with the region's own error even without a hint", async () => {
    const { tier, query } = setUp(() =>
      Response.json({ error: { code: "input_empty", message: "Empty." } }, { status: 400 }),
    );
    await expect(tier.embed(query(), expected)).rejects.toMatchObject({
      ...{ code: "input_empty", hint: undefined, index: undefined },
    });
  });
});

const embeddings = (...vectors: Float32Array<ArrayBuffer>[]) => good({ embeddings: vectors.map(encodeFloats) });

describe.each<[string, Answering]>([
  ["that refuses the key", () => Response.json({ error: { code: "key_wrong", message: "" } }, { status: 401 })],
  [
    "that does not serve the model",
    () => Response.json({ error: { code: "model_unknown", message: "" } }, { status: 404 }),
  ],
  ["that is overloaded", () => new Response("slow down", { status: 429 })],
  ["that failed", () => Response.json({ error: { code: "internal", message: "" } }, { status: 500 })],
  ["behind a broken gateway", () => new Response("<html>", { status: 502 })],
  ["that is loading", () => Response.json({ error: { code: "model_unavailable", message: "" } }, { status: 503 })],
  ["whose gateway refuses with an HTML page", () => new Response("<html>", { status: 400 })],
  [
    "that refuses with an unknown code",
    () => Response.json({ error: { code: "teapot", message: "" } }, { status: 400 }),
  ],
  [
    "that refuses with a code for its own faults",
    () => Response.json({ error: { code: "internal", message: "" } }, { status: 400 }),
  ],
  ["that answers 304", () => new Response(null, { status: 304 })],
  ["that does not answer JSON", () => new Response("<html>")],
  ["that answers an empty body", () => new Response("")],
  ["that answers JSON of another form", () => Response.json({ embeddings: [[0.6, 0.8]] })],
  [
    "that answers numbers instead of base64",
    () =>
      good({
        embeddings: [
          [0.6, 0.8],
          [1, 0],
        ],
      }),
  ],
  ["that answers text that is not base64", () => good({ embeddings: ["%%%", "%%%"] })],
  ["that answers bytes that are not whole numbers", () => good({ embeddings: ["AAAA", "AAAA"] })],
  ["that serves another version", () => good({ version: "ffffffffffff" })],
  ["that answers fewer vectors than texts", () => embeddings(Float32Array.of(1, 0))],
  ["that answers more vectors than texts", () => embeddings(...VECTORS, Float32Array.of(1, 0))],
  ["that answers no vectors", () => good({ embeddings: [] })],
  ["that answers vectors of another size", () => embeddings(Float32Array.of(1, 0, 0), Float32Array.of(1, 0, 0))],
  ["that answers one vector of another size", () => embeddings(Float32Array.of(1, 0), Float32Array.of(1))],
  ["that answers an empty vector", () => embeddings(Float32Array.of(1, 0), Float32Array.of())],
  [
    "that cannot be reached",
    () => {
      throw new TypeError("fetch failed");
    },
  ],
  [
    "whose body breaks off",
    () =>
      new Response(
        new ReadableStream({
          pull: (stream) => stream.error(new TypeError("terminated")),
        }),
      ),
  ],
])("a region %s", (_, answer) => {
  it("is reported as region_failed, without its key", async () => {
    const { tier, query } = setUp(answer);
    const error = await tier.embed(query(), expected).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "region_failed" });
    expect(String(error)).not.toContain("region-key");
  });

  it("is not usable for restMs", async () => {
    const { tier, clock, query } = setUp(answer);
    expect(tier.usable()).toBe(true);
    await tier.embed(query(), expected).catch(() => {});
    expect(tier.usable()).toBe(false);
    clock.now += REST_MS - 1;
    expect(tier.usable()).toBe(false);
    clock.now += 1;
    expect(tier.usable()).toBe(true);
  });

  it("does not change the estimate", async () => {
    const { tier, clock, query } = setUp((request, time) => {
      time.now += 500;
      return answer(request, clock);
    });
    await tier.embed(query(), expected).catch(() => {});
    expect(tier.predict(0)).toBe(PRIOR_MS);
  });
});

describe("vectors, while the edge has not loaded its model", () => {
  it.each([
    ["differ in size", embeddings(Float32Array.of(1, 0), Float32Array.of(1))],
    ["are empty", embeddings(Float32Array.of(), Float32Array.of())],
  ])("are refused when they %s", async (_, response) => {
    const { tier, query } = setUp(() => response);
    const cold = { ...expected, version: undefined, dimensions: undefined };
    await expect(tier.embed(query(), cold)).rejects.toMatchObject({ code: "region_failed" });
  });
});

describe("a region that does not answer", () => {
  it("fails after timeoutMs, and is not usable for a while", async () => {
    const silent: Answering = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const { tier, query } = setUp(silent, { timeoutMs: 1 });
    await expect(tier.embed(query(), expected)).rejects.toMatchObject({
      code: "region_failed",
      cause: { name: "TimeoutError" },
    });
    expect(tier.usable()).toBe(false);
  });
});

describe("the estimate", () => {
  it("learns the overhead and the slowdown from answers", async () => {
    const { tier, query } = setUp((_, clock) => {
      clock.now += 20;
      return good();
    });
    expect(tier.predict(2)).toBe(PRIOR_MS + 2);
    await tier.embed(query(), { ...expected, computeMs: 2 });
    // The region computed for 4 of the 20 ms. The prediction was 2 ms, so the slowdown is 2.
    expect(tier.predict(2)).toBe(16 + 2 * 2);
  });

  it.each([
    ["a dot without digits", "compute;dur=."],
    ["NaN", "compute;dur=NaN"],
    ["a number beyond the range of doubles", `compute;dur=${"9".repeat(400)}`],
    ["more milliseconds than the whole fetch", "compute;dur=99999"],
    ["text without a duration", "garbage"],
  ])("ignores or limits a reported time with %s", async (_, timing) => {
    const { tier, query } = setUp((_, clock) => {
      clock.now += 20;
      return good({}, { "server-timing": timing });
    });
    await tier.embed(query(), { ...expected, computeMs: 2 });
    // The overhead is at most 20 ms, and the slowdown does not raise the predicted 2 ms.
    expect(tier.predict(2)).toBeLessThanOrEqual(22);
    await expect(tier.embed(query({ budget: "30" }), expected)).resolves.toMatchObject({ tokens: 8 });
  });
});

describe("keepMeasured", () => {
  const nothing = () => {};
  const collect = () => {
    const work: Promise<unknown>[] = [];
    return { background: (promise: Promise<unknown>) => void work.push(promise), work };
  };

  it("probes /health without the key, and learns the overhead from it", async () => {
    const { tier, requests } = setUp((_, clock) => {
      clock.now += 12;
      return Response.json({ status: "ok" });
    });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(["GET https://region.example.com/health"]);
    expect(requests[0]?.headers.has("authorization")).toBe(false);
    expect(tier.predict(0)).toBe(12);
  });

  it("probes again only when the last measurement is old", async () => {
    const { tier, clock, requests, query } = setUp(({ url }) =>
      url.endsWith("/health") ? new Response("ok") : good(),
    );
    tier.keepMeasured(nothing);
    clock.now += PROBE_MS - 1;
    tier.keepMeasured(nothing);
    expect(requests).toHaveLength(1);
    clock.now += 1;
    tier.keepMeasured(nothing);
    expect(requests).toHaveLength(2);

    clock.now += PROBE_MS - 1;
    await tier.embed(query(), expected);
    clock.now += PROBE_MS - 1;
    tier.keepMeasured(nothing);
    expect(requests.filter(({ url }) => url.endsWith("/health"))).toHaveLength(2);
  });

  it("does not learn the slowdown from probes", async () => {
    const { tier, query } = setUp(({ url }, clock) => {
      clock.now += 10;
      return url.endsWith("/health") ? new Response("ok") : good();
    });
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    await tier.embed(query(), { ...expected, computeMs: 40 });
    // The region computed for 4 ms instead of 40, so the slowdown is 0.1. The overhead of this fetch was 10 - 4 = 6 ms,
    // which is 4 ms less than before. The estimate falls by half of these 4 ms, and the deviation is a quarter of them.
    expect(tier.predict(40)).toBe(10 - 4 / 2 + 4 / 4 + 0.1 * 40);
  });

  it.each<[string, Answering]>([
    ["answers with an error", () => new Response("", { status: 503 })],
    ["cannot be reached", () => Promise.reject(new TypeError("fetch failed"))],
  ])("does not fail when the region %s, but makes it unusable for a while", async (_, answer) => {
    const { tier } = setUp(answer);
    const { background, work } = collect();
    tier.keepMeasured(background);
    await Promise.all(work);
    expect(tier.usable()).toBe(false);
    expect(tier.predict(0)).toBe(PRIOR_MS);
  });
});

it("keeps a region usable after it refused a request as too large", async () => {
  const { tier, query } = setUp(() => new Response("", { status: 413 }));
  await expect(tier.embed(query(), expected)).rejects.toMatchObject({ code: "region_failed" });
  expect(tier.usable()).toBe(true);
});

it("refuses an invalid URL at once, and names the setting", () => {
  expect(() => setUp(() => good(), { url: "region.example.com" })).toThrow(
    expect.objectContaining({ code: "setting_invalid", hint: expect.stringContaining("REGION_URL") }),
  );
});
