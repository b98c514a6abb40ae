import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { GoldenTexts } from "../../artifact/manifest.ts";
import { CALLER_HEADER } from "../contract/headers.ts";
import { encodeBytes } from "../contract/vector-text.ts";
import { callerWith } from "../queue/caller.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { ExpectedAnswer } from "./expected-answer.ts";
import type { ProvableModel } from "./golden-check.ts";
import type { RegionAddress } from "./region-settings.ts";
import { connectRegion, type RegionQuery } from "./region-tier.ts";

const log = errorLog();

type Vector = Float32Array<ArrayBuffer>;

/** A way in which foreign regions talk. */
interface Speaker {
  readonly provider: string;
  address(send: (path: string, body?: object, headers?: Headers) => Promise<Response>): RegionAddress;
  readonly probe: string;
  readonly embed: string;
  body(texts: readonly string[]): object;
  answer(vectors: readonly Vector[]): Response;
  /** A refusal of the request, not of the region. */
  fault(): Response;
}

const url = "https://region.example.com";
const key = "region-key";
const numbers = (vectors: readonly Vector[]) => vectors.map((vector) => [...vector]);
const listed = (embeddings: readonly unknown[]) =>
  Response.json({
    object: "list",
    data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
  });

const openAi: Speaker = {
  provider: "openai",
  address: () => ({ dialect: "openai", url: `${url}/v1`, key, model: "org/model" }),
  probe: "GET /v1/models",
  embed: "POST /v1/embeddings",
  body: (input) => ({ input, model: "org/model", encoding_format: "base64" }),
  answer: (vectors) => listed(vectors.map(encodeBytes)),
  fault: () => Response.json({ error: { message: "too long", type: "invalid_request_error" } }, { status: 400 }),
};

const speakers: Record<string, Speaker> = {
  tei: {
    provider: "tei",
    address: () => ({ dialect: "tei", url, key }),
    probe: "GET /health",
    embed: "POST /embed",
    body: (inputs) => ({ inputs, truncate: false, normalize: true }),
    answer: (vectors) => Response.json(numbers(vectors)),
    fault: () => Response.json({ error: "too long", error_type: "Validation" }, { status: 422 }),
  },
  "openai, which answers base64": openAi,
  "openai, which answers numbers": { ...openAi, answer: (vectors) => listed(numbers(vectors)) },
  "workers-ai": {
    provider: "workers-ai",
    address: (send) => ({
      ...({ dialect: "workers-ai", model: "@cf/org/model", pooling: "mean" } as const),
      ai: {
        run: (model: string, inputs: Record<string, unknown>, options: object) => {
          const signal = expect.any(AbortSignal);
          expect({ model, options }).toEqual({ model: "@cf/org/model", options: { returnRawResponse: true, signal } });
          return send(`${(inputs["text"] as string[])[0] === "a" ? "probe" : "run"}`, inputs);
        },
      },
    }),
    probe: "probe",
    embed: "run",
    body: (text) => ({ text, pooling: "mean" }),
    answer: (vectors) =>
      Response.json({ shape: [vectors.length, vectors[0]?.length ?? 0], data: numbers(vectors), pooling: "mean" }),
    fault: () => Response.json({ internalCode: 5006, description: "too long" }, { status: 400 }),
  },
};

const golden: GoldenTexts = {
  texts: ["first golden", "second golden"],
  vectors: [Float32Array.of(0.6, 0.8), Float32Array.of(1, 0)],
};
const VERSION = "0123456789ab";
const VECTORS = [Float32Array.of(0.6, 0.8), Float32Array.of(1, 0)];
const REFUSED_MS = 60_000;
const REPEAT_MS = 600_000;
const parity = { meanCosine: 0.999, minCosine: 0.995, maxAbsDiff: 0.1, cases: 21 };

const modelOf = (changes: object = {}): ProvableModel =>
  ({
    version: VERSION,
    golden: async () => golden,
    manifest: {
      ...{ name: "tiny", task: "embed", dimensions: 2, normalize: true, pooling: "mean", maxTokens: 16 },
      targets: { edge: { parity } },
    },
    ...changes,
  }) as ProvableModel;

const expected: ExpectedAnswer = {
  ...{ model: "tiny", version: VERSION, lengths: [2, 2], norm: "one" },
  ...{ tokens: 8, maxTokens: 16, computeMs: 4 },
};

type Answering = (texts: readonly string[]) => Response | Promise<Response>;

/** Makes a tier whose region is a function. The region answers probes, and by default it runs the model. */
function setUp(speaker: Speaker, changes: Partial<{ model: ProvableModel; maxInputs: number; fetchMs: number }> = {}) {
  const { model = modelOf(), fetchMs = 10 } = changes;
  const clock = { now: 1_000_000 };
  const asked: { what: string; body: Record<string, unknown>; headers: Headers | undefined }[] = [];
  const region: { answer: Answering; golden: Answering } = {
    answer: (texts) => speaker.answer(texts.map((_, i) => VECTORS[i % 2] as Vector)),
    golden: () => speaker.answer(golden.vectors),
  };
  const send = async (what: string, body: object = {}, headers?: Headers) => {
    clock.now += fetchMs;
    asked.push({ what, body: body as Record<string, unknown>, headers });
    if (what === speaker.probe) return Response.json(speaker.provider === "workers-ai" ? { data: [[1, 0]] } : {});
    const texts = ["inputs", "input", "text"].flatMap((name) => (body as Record<string, string[]>)[name] ?? []);
    return texts[0] === golden.texts[0] ? region.golden(texts) : region.answer(texts);
  };
  const tier = connectRegion({
    ...speaker.address(send),
    ...(changes.maxInputs !== undefined && { maxInputs: changes.maxInputs }),
    now: () => clock.now,
    fetch: (async (request: Request, { signal, redirect }: RequestInit) => {
      expect(redirect).toBe("manual");
      signal?.throwIfAborted();
      const body = request.method === "POST" ? ((await request.clone().json()) as object) : undefined;
      const answer = send(`${request.method} ${new URL(request.url).pathname}`, body, request.headers);
      const aborted = new Promise<never>((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
      return Promise.race([answer, aborted]);
    }) as typeof fetch,
  });
  const work: Promise<unknown>[] = [];
  return {
    ...{ tier, clock, asked, region },
    what: () => asked.map(({ what }) => what),
    /** Does what an edge does with each request, and waits for it. */
    async keep(of: ProvableModel | undefined = model) {
      tier.keepMeasured((promise) => void work.push(promise), undefined, of);
      await Promise.all(work);
    },
    embed: (more: Partial<RegionQuery> = {}, answer: Partial<ExpectedAnswer> = {}, signal?: AbortSignal) =>
      tier.ask(
        {
          ...{ inputs: ["to be", "or not"], truncate: false },
          deadline: startDeadline(undefined, { now: () => clock.now }),
          ...more,
        },
        { ...expected, ...answer },
        { signal },
      ),
  };
}

describe.each(Object.entries(speakers))("a region that speaks %s", (name, speaker) => {
  it("is probed and asked for the golden texts, and then answers in its own dialect", async () => {
    const { tier, keep, embed, asked, what } = setUp(speaker);
    await keep();
    expect(tier.predict(0)).not.toBe("down");
    expect(await embed()).toMatchObject({
      ...{ outputs: VECTORS, tokens: 8, model: "tiny", version: VERSION, provider: speaker.provider },
      timings: { region: 10 },
    });
    expect(what()).toEqual([speaker.probe, speaker.embed, speaker.embed]);
    expect(asked.slice(1).map(({ body }) => body)).toEqual([
      speaker.body(golden.texts),
      speaker.body(["to be", "or not"]),
    ]);
    const authorized = name === "workers-ai" ? [undefined, undefined, undefined] : Array(3).fill(`Bearer ${key}`);
    expect(asked.map(({ headers }) => headers?.get("authorization"))).toEqual(authorized);
  });

  it("does not learn who the callers are", async () => {
    const { keep, embed, asked } = setUp(speaker);
    await keep();
    await embed({ caller: callerWith({ name: "shop" }, "customer") });
    expect(asked.map(({ headers }) => headers?.get(CALLER_HEADER) ?? null)).toEqual([null, null, null]);
  });

  it("is down and is sent nothing before it has proven itself", async () => {
    const { tier, embed, asked, keep } = setUp(speaker);
    expect(tier.predict(0)).toBe("down");
    await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
    expect(asked).toEqual([]);
    await keep();
    expect(tier.predict(0)).not.toBe("down");
  });

  it("is refused with the cosine when it returns other vectors, and tried again after a minute", async () => {
    const { tier, clock, keep, embed, region, what } = setUp(speaker);
    region.golden = () => speaker.answer([Float32Array.of(0.6, 0.8), Float32Array.of(0.8, 0.6)]);
    await keep();
    expect(tier.predict(0)).toBe("down");
    await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/cosine of 0\.8000 .* at least 0\.9950.*second golden/),
    );
    expect(log.mock.calls[0]?.[0]).toMatch(/mean pooling/);
    await keep();
    expect(what()).toHaveLength(2);
    region.golden = () => speaker.answer(golden.vectors);
    clock.now += REFUSED_MS;
    await keep();
    expect(tier.predict(0)).not.toBe("down");
    expect(log).toHaveBeenCalledOnce();
  });

  it("is not used for another version until it has proven that one", async () => {
    const { tier, keep, embed, region } = setUp(speaker);
    await keep();
    region.golden = () => speaker.answer([Float32Array.of(0, 1), Float32Array.of(0, 1)]);
    await expect(embed({}, { version: "ffffffffffff" })).rejects.toMatchObject({ code: "region_failed" });
    await keep(modelOf({ version: "ffffffffffff" }));
    expect(tier.predict(0)).toBe("down");
  });

  it("proves itself again every ten minutes, and meanwhile answers", async () => {
    const { tier, clock, keep, region } = setUp(speaker);
    await keep();
    region.golden = () => speaker.answer([Float32Array.of(0, 1), Float32Array.of(0, 1)]);
    clock.now += REPEAT_MS - 1_000;
    await keep();
    expect(tier.predict(0)).not.toBe("down");
    clock.now += 1_000;
    await keep();
    expect(tier.predict(0)).toBe("down");
    expect(log).toHaveBeenCalledOnce();
  });

  it("proves itself again after it has failed", async () => {
    const { tier, clock, keep, embed, region, what } = setUp(speaker);
    await keep();
    region.answer = () => new Response("", { status: 500 });
    await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
    expect(tier.predict(0)).toBe("down");
    clock.now += 1_000;
    region.golden = () => speaker.answer([Float32Array.of(0, 1), Float32Array.of(0, 1)]);
    await keep();
    expect(what()).toEqual([speaker.probe, speaker.embed, speaker.embed, speaker.probe, speaker.embed]);
    expect(tier.predict(0)).toBe("down");
  });

  it("stays proven while it has no time for the golden texts", async () => {
    const { tier, clock, keep, region } = setUp(speaker);
    await keep();
    region.golden = () => new Response("", { status: 429 });
    clock.now += REPEAT_MS;
    await keep();
    expect(tier.predict(0)).not.toBe("down");
    expect(log).not.toHaveBeenCalled();
  });

  it("is refused when the artifact has no golden texts", async () => {
    const { tier, keep } = setUp(speaker, { model: modelOf({ golden: async () => undefined }) });
    await keep();
    expect(tier.predict(0)).toBe("down");
    expect(log).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/tiny@0123456789ab has no golden texts.*prepare/),
    );
  });

  it("is refused when the model leaves its default prompt out of the pooling", async () => {
    const { manifest } = modelOf();
    const unpooled = { ...manifest, poolsPrompt: false, prompts: { query: "q: " }, defaultPrompt: "query" };
    const { tier, keep } = setUp(speaker, { model: modelOf({ manifest: unpooled }) });
    await keep();
    expect(tier.predict(0)).toBe("down");
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/leaves its default prompt out of the pooling/));
  });

  it("is not asked for texts that may have to be cut", async () => {
    const { tier, keep, embed, what } = setUp(speaker);
    await keep();
    expect(tier.predict(0, { onlyOurs: true })).toBe("down");
    await expect(embed({}, { onlyOurs: true })).rejects.toMatchObject({ code: "region_failed" });
    expect(what()).toHaveLength(2);
  });

  it("answers requests for half precision only if its vectors are as near", async () => {
    const far = Float32Array.of(Math.cos(0.05), Math.sin(0.05));
    const { clock, keep, embed, region } = setUp(speaker);
    await keep();
    expect(await embed({ precision: "fp16" })).toMatchObject({ tokens: 8 });
    region.golden = () => speaker.answer([golden.vectors[0] as Vector, far]);
    clock.now += REPEAT_MS;
    await keep();
    await expect(embed({ precision: "fp16" })).rejects.toMatchObject({ code: "precision_unavailable" });
    expect(await embed({ precision: "int8" })).toMatchObject({ tokens: 8 });
  });

  it("gets the length 1 if the model's vectors have it, and must have the model's own length otherwise", async () => {
    const twice = (vectors: readonly Vector[]) => speaker.answer(vectors.map((vector) => vector.map((x) => 2 * x)));
    const normalized = setUp(speaker);
    normalized.region.golden = () => twice(golden.vectors);
    normalized.region.answer = () => twice(VECTORS);
    await normalized.keep();
    expect(await normalized.embed()).toMatchObject({ outputs: VECTORS });

    const { manifest } = modelOf();
    const plain = setUp(speaker, { model: modelOf({ manifest: { ...manifest, normalize: false } }) });
    plain.region.golden = () => twice(golden.vectors);
    await plain.keep();
    expect(plain.tier.predict(0)).toBe("down");
    expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/2\.0000 times as long.*not normalize/));
    plain.region.golden = () => speaker.answer(golden.vectors);
    plain.region.answer = () => twice(VECTORS);
    plain.clock.now += REFUSED_MS;
    await plain.keep();
    const { outputs: vectors } = await plain.embed({}, { norm: "not-zero" });
    expect(vectors).toEqual(VECTORS.map((vector) => vector.map((x) => 2 * x)));
  });

  it("gets many texts in several requests", async () => {
    const { keep, embed, asked, region } = setUp(speaker, { maxInputs: 3 });
    await keep();
    const turned = (texts: readonly string[]) => texts.map((text) => Float32Array.of(Math.cos(+text), Math.sin(+text)));
    region.answer = (texts) => speaker.answer(turned(texts));
    const texts = Array.from({ length: 8 }, (_, i) => `${i / 10}`);
    const lengths = texts.map(() => 2);
    const { outputs, tokens } = await embed({ inputs: texts }, { lengths, tokens: 32 });
    const sizes = asked.slice(2).map(({ body }) => (Object.values(body).find(Array.isArray) as string[]).length);
    expect({ sizes, tokens }).toEqual({ sizes: [3, 3, 2], tokens: 32 });
    outputs.forEach((vector, i) => {
      expect(vector[1]).toBeCloseTo(Math.sin(i / 10), 6);
    });
    region.answer = ([first]) => (first === "0.3" ? speaker.answer([]) : speaker.answer(turned(["0", "0", "0"])));
    await expect(embed({ inputs: texts }, { lengths, tokens: 32 })).rejects.toMatchObject({ code: "region_failed" });
  });

  it("does not fail when it refuses a request for its own faults", async () => {
    const { tier, keep, embed, region } = setUp(speaker);
    await keep();
    region.answer = speaker.fault;
    for (let request = 0; request < 3; request++) {
      await expect(embed()).rejects.toMatchObject({
        code: "region_failed",
        message: expect.stringContaining('"too long"'),
      });
    }
    expect(tier.predict(0)).not.toBe("down");
  });

  it("is not down but busy when it is overloaded", async () => {
    const { tier, keep, embed, region } = setUp(speaker);
    await keep();
    region.answer = () => new Response("", { status: 429, headers: { "retry-after": "2" } });
    await expect(embed()).rejects.toMatchObject({ code: "region_overloaded", retryAfterMs: 2_000 });
    expect(tier.predict(0)).toMatchObject({ waitMs: 2_000 });
  });

  it("counts what it takes beyond the network as computation, as long as it reports no times", async () => {
    const { tier, keep, embed, region, clock } = setUp(speaker, { fetchMs: 0 });
    await keep();
    region.answer = () => {
      clock.now += 40;
      return speaker.answer(VECTORS);
    };
    const predicted = () => (tier.predict(4) as { ms: number }).ms;
    expect(predicted()).toBe(4);
    for (let request = 0; request < 30; request++) await embed();
    expect(predicted()).toBeCloseTo(40, 0);
    expect((tier.predict(0) as { ms: number }).ms).toBe(0);
  });

  it("is not waited for when the caller has gone", async () => {
    const { tier, keep, embed, region, what } = setUp(speaker);
    await keep();
    region.answer = () => new Promise(() => {});
    const reason = new Error("gone");
    const caller = new AbortController();
    const answer = embed({}, {}, caller.signal);
    await waitFor(() => expect(what()).toHaveLength(3));
    caller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    expect(tier.predict(0)).not.toBe("down");
  });
});

const endless = (status = 200) =>
  new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new TextEncoder().encode("[[0.5,")) }), {
    status,
  });
const unit = Float32Array.of(1, 0);

/** Wrong answers of a region, in any dialect. */
const hostileAnswers: [string, (speaker: Speaker) => Response][] = [
  ["that refuses the key", () => new Response("", { status: 401 })],
  ["that forbids access", () => new Response("forbidden", { status: 403 })],
  ["that has no such route", () => new Response("", { status: 404 })],
  ["that failed", () => Response.json({ error: "cuda", error_type: "Backend" }, { status: 424 })],
  ["that has an endless error page", () => endless(500)],
  ["behind a broken gateway", () => new Response("<html>", { status: 502 })],
  ["that is loading", () => new Response("", { status: 503 })],
  ["whose gateway refuses with an HTML page", () => new Response("<html>", { status: 400 })],
  ["that refuses without a reason", () => Response.json({}, { status: 422 })],
  ["that refuses with an endless body", () => endless(400)],
  ...[301, 302, 303, 307, 308].map((status): [string, () => Response] => [
    `that redirects with ${status}`,
    () => new Response(null, { status, headers: { location: "https://elsewhere.example.com" } }),
  ]),
  ["that answers 304", () => new Response(null, { status: 304 })],
  ["that answers 204", () => new Response(null, { status: 204 })],
  ["that does not answer JSON", () => new Response("<html>")],
  ["that answers an empty body", () => new Response("")],
  ["that answers null", () => Response.json(null)],
  ["that answers a number", () => Response.json(7)],
  ["that answers JSON of another form", () => Response.json({ embeddings: [[1, 0]], data: "x" })],
  ["that answers JSON which breaks off", () => new Response('{"data":[[0.5,')],
  ["that answers without an end", () => endless()],
  ["that answers deeply nested JSON", () => new Response("[".repeat(4_000))],
  ["that declares 300 MB", () => new Response("[]", { headers: { "content-length": "300000000" } })],
  ["that pads its answer to 300 kB", () => new Response(`${" ".repeat(300_000)}[]`)],
  ["that answers fewer vectors than texts", (speaker) => speaker.answer([unit])],
  ["that answers more vectors than texts", (speaker) => speaker.answer([unit, unit, unit])],
  ["that answers no vectors", (speaker) => speaker.answer([])],
  ["that answers vectors of another size", (speaker) => speaker.answer([unit, Float32Array.of(1, 0, 0)])],
  ["that answers an empty vector", (speaker) => speaker.answer([unit, Float32Array.of()])],
  ["that answers NaN", (speaker) => speaker.answer([unit, Float32Array.of(Number.NaN, 1)])],
  ["that answers infinity", (speaker) => speaker.answer([unit, Float32Array.of(Number.NEGATIVE_INFINITY, 0)])],
  ["that answers a zero vector", (speaker) => speaker.answer([unit, new Float32Array(2)])],
  [
    "that answers numbers as strings",
    ({ provider }) =>
      wrapped(provider, [
        [1, 0],
        ["1", "0"],
      ]),
  ],
  ["that answers nulls", ({ provider }) => wrapped(provider, [null, null])],
  ["that answers objects", ({ provider }) => wrapped(provider, [{ 0: 1, 1: 0, length: 2 }, [1, 0]])],
  [
    "that answers numbers beyond float32",
    ({ provider }) =>
      wrapped(provider, [
        [1, 0],
        [1e39, 0],
      ]),
  ],
  ["that answers text that is not base64", ({ provider }) => wrapped(provider, ["%%%%", "%%%%"])],
];

/** Puts anything into the place of the vectors. */
function wrapped(provider: string, vectors: unknown[]): Response {
  if (provider === "openai") return listed(vectors);
  return Response.json(provider === "tei" ? vectors : { shape: [2, 2], data: vectors });
}

const hostileOpenAiAnswers: [string, () => Response][] = [
  ["whose indices are too large", () => Response.json({ data: [0, 7].map((index) => ({ index, embedding: [1, 0] })) })],
  ["whose indices are equal", () => Response.json({ data: [0, 0].map((index) => ({ index, embedding: [1, 0] })) })],
  ["whose indices are negative", () => Response.json({ data: [0, -1].map((index) => ({ index, embedding: [1, 0] })) })],
  ["whose vectors have no index", () => Response.json({ data: [{ embedding: [1, 0] }, { embedding: [1, 0] }] })],
];

const cases = Object.entries(speakers).flatMap(([name, speaker]) =>
  [...hostileAnswers, ...(speaker.provider === "openai" ? hostileOpenAiAnswers : [])].map(
    ([what, answer]) => [name, what, speaker, answer] as const,
  ),
);

describe.each(cases)("a region with the dialect %s %s", (_name, _what, speaker, answer) => {
  it("is reported as region_failed without its key, is down at once, and has to prove itself again", async () => {
    const { tier, clock, keep, embed, region } = setUp(speaker);
    await keep();
    region.answer = () => answer(speaker);
    const error = await embed().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "region_failed" });
    expect((error as Error).message.length).toBeLessThan(600);
    expect(inspect(error)).not.toContain(key);
    expect(tier.predict(0)).toBe("down");
    clock.now += 500;
    await keep(undefined);
    expect(tier.predict(0)).toBe("down");
  });

  it("is not used when it answers the golden texts like that", async () => {
    const { tier, keep, embed, region } = setUp(speaker);
    region.golden = () => answer(speaker);
    await keep();
    expect(tier.predict(0)).toBe("down");
    await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
    expect(log).toHaveBeenCalledOnce();
    expect(inspect(log.mock.calls)).not.toContain(key);
  });
});

it("uses the times that TEI reports", async () => {
  const { keep, embed, region, clock } = setUp(speakers["tei"] as Speaker, { fetchMs: 10 });
  await keep();
  const times = { "x-total-time": "24", "x-queue-time": "3", "x-inference-time": "19" };
  region.answer = () => {
    clock.now += 25;
    return new Response(JSON.stringify(numbers(VECTORS)), { headers: times });
  };
  expect((await embed()).timings).toEqual({ region: 35, "region-queue": 3.5, "region-compute": 19.5 });
  region.answer = () =>
    new Response(JSON.stringify(numbers(VECTORS)), { headers: { "x-total-time": "-1", "x-inference-time": "soon" } });
  expect((await embed()).timings).toEqual({ region: 10 });
});

it("a Workers AI binding may return what it has parsed", async () => {
  const { keep, embed, region } = setUp(speakers["workers-ai"] as Speaker);
  await keep();
  const data = { shape: [2, 2], data: numbers(VECTORS), pooling: "mean" };
  region.answer = () => data as unknown as Response;
  expect(await embed()).toMatchObject({ outputs: VECTORS });
});

it("a Workers AI binding that throws is a region that failed", async () => {
  const speaker = speakers["workers-ai"] as Speaker;
  const { tier, keep, embed, region } = setUp(speaker);
  await keep();
  region.answer = () => Promise.reject(new Error("3040: out of capacity"));
  for (let request = 0; request < 2; request++) await expect(embed()).rejects.toMatchObject({ code: "region_failed" });
  expect(tier.predict(0)).toBe("down");
});

it("a Workers AI binding that answers after its caller has gone is not left open", async () => {
  const { keep, embed, region } = setUp(speakers["workers-ai"] as Speaker);
  await keep();
  const late = Promise.withResolvers<Response>();
  region.answer = () => late.promise;
  const caller = new AbortController();
  const answer = embed({}, {}, caller.signal);
  await Promise.resolve();
  caller.abort(new Error("gone"));
  await expect(answer).rejects.toThrow("gone");
  const cancel = vi.fn();
  late.resolve(new Response(new ReadableStream({ cancel })));
  await waitFor(() => expect(cancel).toHaveBeenCalledOnce());
});
