import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ErrorBody, errorStatus, type HttpErrorCode } from "#sdk/serve/contract/errors.ts";
import { decodeFloats } from "#sdk/serve/contract/vector-text.ts";
import { defaultLimits, type Limits } from "#sdk/serve/limits.ts";
import type { EmbedResponse } from "#sdk/serve/tasks/embed.ts";
import type { ObjectStore } from "#sdk/storage/store.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { type FakeEngineOptions, TINY, tinyStore } from "../fixtures/tiny-model.ts";
import { waitFor } from "../fixtures/wait-for.ts";

interface SurfaceOptions {
  store: ObjectStore;
  engine: FakeEngineOptions;
  keys: readonly string[];
  limits: Limits;
}

/** Opens a new app with these options. Returns the function that answers its requests. */
export type OpenSurface = (options: SurfaceOptions) => (request: Request) => Promise<Response>;

const KEY = "the-key";
const LIMITS: Limits = { ...defaultLimits, maxInputs: 4, maxBodyBytes: 4_096 };
const LONG = "word ".repeat(TINY.maxTokens);

/** The part of OpenAI's answer that tests read. */
interface OpenAiVectors {
  readonly data: readonly { readonly embedding: readonly number[] | string }[];
}

interface Sent {
  method?: string;
  body?: BodyInit | null;
  json?: unknown;
  headers?: Record<string, string>;
  key?: string | null;
}

function request(path: string, { method = "POST", json, body, headers = {}, key = KEY }: Sent = {}): Request {
  return new Request(`http://bert.test${path}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(method !== "GET" && method !== "HEAD" && { body: body === undefined ? JSON.stringify(json ?? {}) : body }),
    // Request streams need `duplex`, which TypeScript's lib does not declare.
    ...({ duplex: "half" } as object),
  });
}

/** Tests the HTTP interface that every deployment has, on every tier and runtime. */
export function httpSurfaceSuite(name: string, tier: "edge" | "region", open: OpenSurface): void {
  const log = errorLog();

  async function surface(options: Partial<SurfaceOptions> = {}) {
    const send = open({ store: await tinyStore(), engine: {}, keys: [KEY], limits: LIMITS, ...options });
    return (path: string, sent?: Sent) => send(request(path, sent));
  }
  /** One app for all requests that do not change it. */
  let shared: ReturnType<typeof surface> | undefined;
  const ask = async (path: string, sent?: Sent) => {
    shared ??= surface();
    return (await shared)(path, sent);
  };
  const failure = async (response: Response) => ({
    status: response.status,
    ...((await response.json()) as ErrorBody).error,
  });
  const embed = async (json: object) => (await (await ask("/v1/embed", { json })).json()) as EmbedResponse;

  describe(`${name}: POST /v1/embed`, () => {
    it("answers one text, or a list in its order", async () => {
      const one = await embed({ inputs: "to be" });
      expect(one).toMatchObject({ model: TINY.name, tier, usage: { tokens: 4 } });
      expect(one.version).toMatch(/^[0-9a-f]{12}$/);
      const many = await embed({ inputs: ["or not", "to be"] });
      expect(many.usage.tokens).toBe(8);
      expect(many.embeddings).toHaveLength(2);
      expect(many.embeddings[1]).toEqual(one.embeddings[0]);
      expect(many.embeddings[0]).not.toEqual(one.embeddings[0]);
    });

    it("describes the answer in headers", async () => {
      const { headers } = await ask("/v1/embed", { json: { inputs: "to be" } });
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("x-bert-edge-tier")).toBe(tier);
      expect(headers.get("x-bert-edge-reason")).toBe("only-tier");
      expect(headers.get("x-bert-edge-provider")).toBe("fake");
      expect(headers.get("x-bert-edge-model")).toMatch(/^tiny@[0-9a-f]{12}$/);
      // The fake engine is faster than the measured one, and the deployment has noticed.
      const measuredMs = tier === "edge" ? 1_400 : 14;
      expect(Number(headers.get("x-bert-edge-predicted-ms"))).toBeGreaterThan(measuredMs / 10);
      expect(Number(headers.get("x-bert-edge-predicted-ms"))).toBeLessThanOrEqual(measuredMs);
      expect(headers.get("server-timing")).toMatch(/^queue;dur=\d\.\d\d, compute;dur=\d+\.\d\d, total;dur=\d+\.\d\d$/);
      expect(headers.has("x-latency-budget-remaining-ms")).toBe(false);
    });

    it("names the request, its answer and its error", async () => {
      const named = { "x-request-id": "r-1" };
      for (const inputs of ["to be", ""]) {
        const { headers } = await ask("/v1/embed", { json: { inputs }, headers: named });
        expect(headers.get("x-request-id")).toBe("r-1");
      }
      const { headers } = await ask("/v1/embeddings", { json: { input: "to be", model: TINY.name } });
      expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    });

    it("reports the rest of the budget", async () => {
      const { headers } = await ask("/v1/embed", {
        json: { inputs: "to be" },
        headers: { "x-latency-budget-ms": "90000" },
      });
      expect(Number(headers.get("x-latency-budget-remaining-ms"))).toBeGreaterThan(0);
      expect(Number(headers.get("x-latency-budget-remaining-ms"))).toBeLessThanOrEqual(90_000);
    });

    it("returns the same float32 numbers as base64 and as JSON", async () => {
      const inputs = ["to be", "or not to be"];
      const [float, base64] = [await embed({ inputs }), await embed({ inputs, encoding_format: "base64" })];
      const decoded = (base64.embeddings as string[]).map(decodeFloats);
      expect(decoded.map(({ length }) => length)).toEqual([TINY.dimensions, TINY.dimensions]);
      expect(decoded).toEqual((float.embeddings as number[][]).map((vector) => Float32Array.from(vector)));
    });

    it("returns vectors of length 1, within the rounding of float32", async () => {
      const { embeddings } = await embed({ inputs: ["to be", "x"] });
      for (const vector of embeddings as number[][]) expect(Math.abs(Math.hypot(...vector) - 1)).toBeLessThan(1e-6);
    });

    it("truncates a text that is too long only on request", async () => {
      expect(await failure(await ask("/v1/embed", { json: { inputs: ["a", LONG] } }))).toMatchObject({
        status: 400,
        code: "input_too_long",
        message: `Input 1 has at least ${TINY.maxTokens + 2} tokens, but tiny accepts at most ${TINY.maxTokens}.`,
        hint: expect.stringContaining("truncate"),
        index: 1,
      });
      expect((await embed({ inputs: LONG, truncate: true })).usage.tokens).toBe(TINY.maxTokens);
    });

    it.each([
      ["lone surrogates", ["\ud800", "a\udfffb"]],
      ["NUL and control characters", ["\0", "a\0b", "\u0001\u001f\u007f"]],
      ["special tokens as text", ["[CLS] [SEP] [PAD] [MASK] ##ing"]],
      ["combining marks, joiners and directions", ["e\u0301\u0301\u0301", "\u200d\u200b", "\u202eabc"]],
      ["every plane", ["私", "🎉", "\u{10ffff}", "\ufffe"]],
      ["text that looks like code", ["<script>", "'; DROP TABLE models; --", "{{x}} %s", "__proto__"]],
    ])("answers %s", async (_, inputs) => {
      const { embeddings } = await embed({ inputs });
      expect(embeddings).toHaveLength(inputs.length);
      for (const vector of embeddings as number[][]) expect(vector.every(Number.isFinite)).toBe(true);
    });

    it("ignores unknown keys", async () => {
      const body = '{"inputs": "to be", "__proto__": {"truncate": 1}, "constructor": 1, "extra": [[]]}';
      expect((await ask("/v1/embed", { body })).status).toBe(200);
    });

    it.each([
      ["no body", null],
      ["an empty body", ""],
      ["broken JSON", '{"inputs": "a"'],
      ["two documents", '{"inputs": "a"}{"inputs": "a"}'],
      ["null", "null"],
      ["a string", '"a"'],
      ["a list", '["a"]'],
      ["no inputs", "{}"],
      ["inputs of numbers", '{"inputs": [1]}'],
      ["inputs of null", '{"inputs": [null]}'],
      ["nested inputs", '{"inputs": [["a"]]}'],
      ["an object as inputs", '{"inputs": {"0": "a", "length": 1}}'],
      ["a truncate that is not a boolean", '{"inputs": "a", "truncate": "yes"}'],
      ["an unknown encoding", '{"inputs": "a", "encoding_format": "int8"}'],
      ["a model that is not a string", '{"inputs": "a", "model": 1}'],
      ["JSON nested a thousand levels deep", `{"inputs": ${"[".repeat(1_000)}${"]".repeat(1_000)}}`],
      ["unclosed JSON nested a thousand levels deep", '{"a":'.repeat(800)],
    ])("refuses %s as request_invalid", async (_, body) => {
      expect(await failure(await ask("/v1/embed", { body }))).toMatchObject({ status: 400, code: "request_invalid" });
    });

    it("survives JSON nested as deeply as the size limit allows", async () => {
      const roomy = await surface({ limits: { ...LIMITS, maxBodyBytes: 2_000_000 } });
      for (const body of ["[".repeat(1_900_000), `{"inputs": ${"[".repeat(900_000)}${"]".repeat(900_000)}}`]) {
        expect((await roomy("/v1/embed", { body })).status).toBe(400);
      }
    });

    it.each<[string, object, string, index?: number]>([
      ["an empty list", { inputs: [] }, "The request has no inputs."],
      ["an empty text", { inputs: "" }, "Input 0 is empty.", 0],
      ["white space only", { inputs: ["a", " \t\n\u00a0\u3000"] }, "Input 1 is empty.", 1],
    ])("refuses %s as input_empty", async (_, json, message, index) => {
      expect(await failure(await ask("/v1/embed", { json }))).toMatchObject({
        status: 400,
        code: "input_empty",
        message,
        ...(index !== undefined && { index }),
      });
    });

    it.each([
      ["/v1/embed", { input: "a" }, "inputs", "input"],
      ["/v1/embed", { inputss: "a" }, "inputs", "inputss"],
      ["/v1/embed", { text: "a" }, "inputs", "text"],
      ["/v1/embeddings", { inputs: "a", model: TINY.name }, "input", "inputs"],
    ])("%s asks for %j whether another field was meant", async (path, json, meant, found) => {
      const { message } = await failure(await ask(path, { json }));
      expect(message).toContain(`there is \`${found}\`. Did you mean \`${meant}\`?`);
    });

    it("has no suggestion for a missing field without a similar one", async () => {
      const { message } = await failure(await ask("/v1/embed", { json: { "": 1, ids: "a" } }));
      expect(message).toBe("The request body is not valid at inputs: the field is missing");
    });

    it.each([
      ["truncat", "truncate"],
      ["turncate", "truncate"],
      ["encodingFormat", "encoding_format"],
    ])("refuses the unknown field %s, which is probably %s", async (field, meant) => {
      expect(await failure(await ask("/v1/embed", { json: { inputs: "a", [field]: true } }))).toMatchObject({
        status: 400,
        code: "request_invalid",
        message: `The request body is not valid at ${field}: there is no such field. Did you mean \`${meant}\`?`,
      });
    });

    it("refuses misspelt fields in the other dialects, too", async () => {
      const json = { input: "a", model: TINY.name, encodingFormat: "base64" };
      const { message } = await failure(await ask("/v1/embeddings", { json }));
      expect(message).toContain("Did you mean `encoding_format`?");
    });

    it("takes null for an absent field, as LiteLLM and Dify send it", async () => {
      const nulls = { encoding_format: null, dimensions: null, user: null, latency_budget_ms: null };
      const json = { model: TINY.name, input: "a" };
      const answer = await (await ask("/v1/embeddings", { json })).json();
      expect(await (await ask("/v1/embeddings", { json: { ...json, ...nulls } })).json()).toEqual(answer);
      const missing = await failure(await ask("/v1/embed", { json: { inputs: null } }));
      expect(missing.message).toMatch(/at inputs: must be a string/);
    });

    it("ignores other unknown fields", async () => {
      const fields = { n: 1, colour: "red" };
      expect((await ask("/v1/embed", { json: { inputs: "a", ...fields } })).status).toBe(200);
      const json = { input: "a", model: TINY.name, ...fields };
      expect((await ask("/v1/embeddings", { json })).status).toBe(200);
    });

    it("accepts the maximum number of inputs, and refuses more", async () => {
      expect((await embed({ inputs: Array(LIMITS.maxInputs).fill("a") })).embeddings).toHaveLength(LIMITS.maxInputs);
      expect(await failure(await ask("/v1/embed", { json: { inputs: Array(5).fill("a") } }))).toMatchObject({
        status: 400,
        code: "too_many_inputs",
      });
    });

    it.each([undefined, "text/plain", "multipart/form-data; boundary=x"])(
      "refuses the content type %s",
      async (type) => {
        const sent = request("/v1/embed", { body: new TextEncoder().encode('{"inputs": "a"}') });
        if (type) sent.headers.set("content-type", type);
        else sent.headers.delete("content-type");
        const send = open({ store: await tinyStore(), engine: {}, keys: [KEY], limits: LIMITS });
        expect(await failure(await send(sent))).toMatchObject({ status: 415, code: "content_type_unsupported" });
      },
    );

    it.each(["0", "-5", "soon", "1e3"])("refuses the budget %s", async (budget) => {
      const response = await ask("/v1/embed", { json: { inputs: "a" }, headers: { "x-latency-budget-ms": budget } });
      expect(await failure(response)).toMatchObject({ status: 400, code: "budget_invalid" });
    });
  });

  describe(`${name}: the body's size`, () => {
    const fits = (bytes: number) => `{"inputs": "a"${" ".repeat(bytes - 15)}}`;
    const streamed = (text: string) =>
      new ReadableStream({
        start(stream) {
          const bytes = new TextEncoder().encode(text);
          for (let at = 0; at < bytes.length; at += 1_000) stream.enqueue(bytes.subarray(at, at + 1_000));
          stream.close();
        },
      });

    it.each([
      ["declared", (text: string) => ({ body: text, headers: { "content-length": String(text.length) } })],
      ["not declared", (text: string) => ({ body: streamed(text) })],
      [
        "declared and chunked",
        (text: string) => ({
          body: streamed(text),
          headers: { "transfer-encoding": "chunked", "content-length": "5" },
        }),
      ],
    ])("is limited when its length is %s", async (_, sent) => {
      expect((await ask("/v1/embed", sent(fits(LIMITS.maxBodyBytes)))).status).toBe(200);
      expect(await failure(await ask("/v1/embed", sent(fits(LIMITS.maxBodyBytes + 1))))).toMatchObject({
        status: 413,
        code: "body_too_large",
      });
    });

    it("stops being read at the limit when it is endless", async () => {
      let chunks = 0;
      const endless = new ReadableStream({
        pull: (stream) => {
          chunks++;
          stream.enqueue(new Uint8Array(1_000));
        },
      });
      expect((await ask("/v1/embed", { body: endless })).status).toBe(413);
      expect(chunks).toBeLessThan(16);
    });

    it("is not read without a key", async () => {
      let chunks = 0;
      const unread = new ReadableStream(
        {
          pull: (stream) => {
            chunks++;
            stream.enqueue(new Uint8Array(1_000));
          },
        },
        { highWaterMark: 0 },
      );
      expect((await ask("/v1/embed", { body: unread, key: null })).status).toBe(401);
      expect(chunks).toBe(0);
    });
  });

  describe(`${name}: POST /v1/embeddings`, () => {
    const openai = (json: object) => ask("/v1/embeddings", { json: { model: TINY.name, ...json } });

    it("answers in OpenAI's form with the vectors of /v1/embed", async () => {
      const inputs = ["to be", "or not"];
      const response = await openai({ input: inputs, user: "me" });
      const own = await embed({ inputs });
      expect(response.headers.get("x-bert-edge-tier")).toBe(tier);
      expect(await response.json()).toEqual({
        object: "list",
        data: own.embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
        model: TINY.name,
        usage: { prompt_tokens: 8, total_tokens: 8 },
      });
    });

    it("returns the same float32 numbers as base64 and as JSON", async () => {
      const read = async (json: object) => ((await (await openai(json)).json()) as OpenAiVectors).data;
      const [float] = await read({ input: "to be", encoding_format: "float" });
      const [base64] = await read({ input: "to be", encoding_format: "base64" });
      expect(decodeFloats(base64?.embedding as string)).toEqual(Float32Array.from(float?.embedding as number[]));
    });

    it("shortens vectors, and normalizes them again; does not lengthen them", async () => {
      expect((await openai({ input: "a", dimensions: TINY.dimensions })).status).toBe(200);
      const short = (await (await openai({ input: "a", dimensions: 4 })).json()) as OpenAiVectors;
      const vector = short.data[0]?.embedding as number[];
      expect(vector).toHaveLength(4);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
      expect((await openai({ input: "a", dimensions: TINY.dimensions + 1 })).status).toBe(400);
    });

    it.each<[HttpErrorCode, object]>([
      ["request_invalid", { input: [1, 2, 3] }],
      ["request_invalid", { input: [[1, 2]] }],
      ["request_invalid", { input: "a", dimensions: 0 }],
      ["request_invalid", { input: "a", dimensions: 1.5 }],
      ["request_invalid", { inputs: "a" }],
      ["input_empty", { input: "" }],
      ["input_empty", { input: [] }],
      ["too_many_inputs", { input: Array(5).fill("a") }],
      ["input_too_long", { input: LONG }],
      ["dimensions_unsupported", { input: "a", dimensions: 1_536 }],
      ["model_unknown", { input: "a", model: "text-embedding-3-small" }],
    ])("refuses with %s in OpenAI's form: %j", async (code, json) => {
      const response = await openai(json);
      expect(response.status).toBe(errorStatus[code]);
      expect(await response.json()).toEqual({
        error: { code, message: expect.any(String), type: "invalid_request_error", param: null },
        detail: expect.any(String),
      });
    });

    it("advises truncation by a field that the request can have", async () => {
      const { error } = (await (await openai({ input: LONG })).json()) as ErrorBody;
      expect(error.message).toContain("or set `truncate` to true");
      expect((await openai({ input: LONG, truncate: true })).status).toBe(200);
    });

    it("also refuses in OpenAI's form before the route runs", async () => {
      for (const sent of [{ key: null }, { key: "wrong" }, { body: " ".repeat(5_000) }, { method: "GET" }]) {
        const { error } = (await (await ask("/v1/embeddings", sent)).json()) as ErrorBody;
        expect(error).toMatchObject({ type: "invalid_request_error", param: null });
      }
    });
  });

  describe(`${name}: routes and methods`, () => {
    it("is healthy without a key, and ready when its model is loaded", async () => {
      const open = await surface();
      expect(await (await open("/health", { method: "GET", key: null })).json()).toEqual({ status: "ok" });
      await open("/v1/embed", { json: { inputs: "a" } });
      const ready = await open("/ready", { method: "GET", key: null });
      expect([ready.status, await ready.json()]).toEqual([
        200,
        { status: "ready", model: TINY.name, version: expect.stringMatching(/^[0-9a-f]{12}$/), provider: "fake" },
      ]);
    });

    it("answers /ready with 503 until the model is loaded, and starts loading it", async () => {
      const loads = { started: 0 };
      const open = await surface({
        engine: {
          onLoad: () => {
            loads.started++;
            return new Promise(() => {});
          },
        },
      });
      const ready = await open("/ready", { method: "GET", key: null });
      expect([ready.status, await ready.json()]).toEqual([503, { status: "loading" }]);
      await waitFor(() => expect(loads.started).toBe(1));
    });

    it.each(["/v1/embed", "/v1/embeddings"])("%s accepts only POST", async (path) => {
      for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
        const response = await ask(path, { method });
        expect([method, response.status, ((await response.json()) as ErrorBody).error.code]).toEqual([
          method,
          405,
          "method_unsupported",
        ]);
      }
      const head = await ask(path, { method: "HEAD" });
      expect([head.status, await head.text()]).toEqual([405, ""]);
    });

    it("reveals existing routes only to requests with a key", async () => {
      for (const method of ["GET", "HEAD", "OPTIONS", "POST"]) {
        expect((await ask("/v1/anything", { method, key: null })).status).toBe(401);
      }
    });

    it.each(["/v1", "/v1/", "/V1/EMBED", "/%", "/v1/%ff", "/..%2fetc%2fpasswd", "/__proto__"])(
      "has no route %s",
      async (path) => {
        expect(await failure(await ask(path, { json: { inputs: "a" } }))).toMatchObject({
          status: 404,
          code: "route_unknown",
        });
      },
    );

    it.each([
      ["GET", "/health/"],
      ["GET", "/ready/"],
      ["POST", "/v1/embed/"],
      ["POST", "/v1/embeddings/"],
    ])("answers %s %s as without the slash", async (method, path) => {
      await ask("/v1/embed", { json: { inputs: "a" } });
      const json = path === "/v1/embeddings/" ? { input: "a" } : { inputs: "a" };
      expect((await ask(path, { method, json })).status).toBe(200);
      const refused = await ask(path, { key: null });
      const { error } = refused.status === 404 ? {} : ((await refused.json()) as { error?: { param?: null } });
      expect(error?.param).toBe(path === "/v1/embeddings/" ? null : undefined);
    });

    it.each([null, "", "wrong", `${KEY}x`, KEY.slice(1), KEY.toUpperCase()])("refuses the key %j", async (key) => {
      const response = await ask("/v1/embed", { json: { inputs: "a" }, key });
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    });

    it("refuses every request when no keys are configured", async () => {
      const open = await surface({ keys: [] });
      expect(await failure(await open("/v1/embed", { json: { inputs: "a" } }))).toMatchObject({
        status: 503,
        code: "keys_not_configured",
      });
    });
  });

  describe(`${name}: internal faults`, () => {
    const SECRETS = ["AKIA-SECRET", "/srv/private", "private-bucket", KEY, "    at "];
    const inside = (what: string) => Object.assign(new Error(`${what} AKIA-SECRET at /srv/private/model.onnx`));
    const storeThat = (open: ObjectStore["open"]): ObjectStore => ({ name: "s3(private-bucket)", open });
    const garbage = () => new Blob(['{"format": "AKIA-SECRET /srv/private"}']).stream();

    const faults: [string, () => Promise<Partial<SurfaceOptions>>][] = [
      ["the engine fails to run", async () => ({ engine: { run: () => Promise.reject(inside("run")) } })],
      [
        // onnxruntime's WebAssembly throws numbers.
        "the engine throws a value that is not an Error",
        async () => ({ engine: { run: () => Promise.reject("AKIA-SECRET /srv/private") } }),
      ],
      ["the engine fails to load", async () => ({ engine: { onLoad: () => Promise.reject(inside("load")) } })],
      ["the store fails", async () => ({ store: storeThat(() => Promise.reject(inside("open"))) })],
      ["the store throws a value that is not an Error", async () => ({ store: storeThat(() => Promise.reject(7)) })],
      ["the store is empty", async () => ({ store: storeThat(async () => undefined) })],
      ["the pointer is invalid", async () => ({ store: storeThat(async () => garbage()) })],
      [
        "the files do not match the manifest",
        async () => {
          const good = await tinyStore();
          const damaged: ObjectStore["open"] = async (key, signal) =>
            key.startsWith("blobs/") ? garbage() : good.open(key, signal);
          return { store: storeThat(damaged) };
        },
      ],
    ];

    it.each(faults)("hides the cause from callers when %s", async (_, options) => {
      const open = await surface(await options());
      for (const [path, json] of [
        ["/v1/embed", { inputs: "a" }],
        ["/v1/embeddings", { input: "a", model: TINY.name }],
      ] as const) {
        const response = await open(path, { json });
        const text = await response.text();
        expect([response.status, (JSON.parse(text) as ErrorBody).error.code]).toEqual([503, "model_unavailable"]);
        for (const secret of SECRETS) expect(text + JSON.stringify([...response.headers])).not.toContain(secret);
      }
      expect(log).toHaveBeenCalled();
    });

    it("answers the next request after a failure", async () => {
      let broken = true;
      const open = await surface({
        engine: {
          run: async (sequences) => {
            if (broken) throw inside("run");
            return sequences.map(({ length }) => new Float32Array(length * TINY.dimensions).fill(1));
          },
        },
      });
      expect((await open("/v1/embed", { json: { inputs: "a" } })).status).toBe(503);
      broken = false;
      expect((await open("/v1/embed", { json: { inputs: "a" } })).status).toBe(200);
    });
  });

  describe(`${name}: any request`, () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) }),
    );
    const mostly = <T>(right: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary: right }, { weight: 1, arbitrary: fc.jsonValue() });
    const texts = mostly(fc.oneof(text, fc.array(text, { maxLength: 6 })));
    /** Requests with missing keys, or with values of any type. */
    const almostRight = fc.record(
      {
        inputs: texts,
        input: texts,
        model: mostly(fc.constant(TINY.name)),
        truncate: mostly(fc.boolean()),
        encoding_format: mostly(fc.constantFrom("float", "base64")),
        dimensions: mostly(fc.constant(TINY.dimensions)),
      },
      { requiredKeys: [] },
    );
    const anyBody = fc.oneof(
      almostRight.map((value) => JSON.stringify(value)),
      fc.jsonValue().map((value) => JSON.stringify(value)),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
    );
    const path = fc.constantFrom("/v1/embed", "/v1/embeddings");
    const headers = fc.record(
      {
        "x-latency-budget-ms": fc.oneof(fc.constantFrom("1", "30.5", "1e9"), fc.stringMatching(/^[ -~]{0,12}$/)),
        "content-type": fc.oneof(
          { weight: 3, arbitrary: fc.constant("application/json") },
          fc.stringMatching(/^[ -~]{0,20}$/),
        ),
      },
      { requiredKeys: [] },
    );

    it("gets an answer or a reason for its refusal, and never a 5xx status", async () => {
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(path, anyBody, headers, async (path, body, headers) => {
          const response = await ask(path, { body, headers });
          statuses.add(response.status);
          const json = (await response.json()) as Partial<ErrorBody> & Partial<EmbedResponse & OpenAiVectors>;
          if (response.status === 200) {
            expect((json.embeddings ?? json.data)?.length).toBeGreaterThan(0);
          } else {
            const { code, message } = (json as ErrorBody).error;
            expect(errorStatus[code]).toBe(response.status);
            // On a busy machine, 1 ms may be over.
            if (code !== "budget_exceeded") expect(response.status).toBeLessThan(500);
            expect(message).not.toBe("");
          }
        }),
        { numRuns: 600 },
      );
      expect(log).not.toHaveBeenCalled();
      // The test is meaningful only if both statuses occurred.
      expect([...statuses]).toEqual(expect.arrayContaining([200, 400]));
    });
  });
}
