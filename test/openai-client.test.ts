import OpenAI, { AuthenticationError, BadRequestError, InternalServerError, NotFoundError } from "openai";
import { describe, expect, it, vi } from "vitest";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { type FakeEngineOptions, fakeEngine, TINY, tinyStore } from "./fixtures/tiny-model.ts";

const inputs = ["to be", "or not to be"];

/** Connects OpenAI's client to an edge app, and records its requests. */
async function setUp(options: { apiKey?: string; engine?: FakeEngineOptions } = {}) {
  const store = await tinyStore();
  const app = createEdgeApp({
    models: () => store,
    model: () => TINY.name,
    engine: fakeEngine(options.engine),
    keys: () => ["k"],
  });
  const sent: { encoding_format?: string }[] = [];
  const client = new OpenAI({
    baseURL: "http://edge.test/v1",
    apiKey: options.apiKey ?? "k",
    maxRetries: 0,
    fetch: async (url, init) => {
      const request = new Request(url, init);
      sent.push((await request.clone().json()) as object);
      return app.fetch(request, {});
    },
  });
  return { client, sent };
}

describe("OpenAI's client", () => {
  it("reads the same float32 numbers from base64, its default, and from JSON", async () => {
    const { client, sent } = await setUp();
    const byDefault = await client.embeddings.create({ model: TINY.name, input: inputs });
    const floats = await client.embeddings.create({ model: TINY.name, input: inputs, encoding_format: "float" });
    expect(sent.map(({ encoding_format }) => encoding_format)).toEqual(["base64", "float"]);
    expect(byDefault.data.map(({ embedding }) => embedding.length)).toEqual([TINY.dimensions, TINY.dimensions]);
    expect(byDefault.data.map(({ embedding }) => [...Float32Array.from(embedding)])).toEqual(
      floats.data.map(({ embedding }) => [...Float32Array.from(embedding)]),
    );
  });

  it("gets vectors in the order of the texts, and the usage", async () => {
    const { client } = await setUp();
    const list = await client.embeddings.create({ model: TINY.name, input: inputs });
    const [first, second] = await Promise.all(
      inputs.map((input) => client.embeddings.create({ model: TINY.name, input })),
    );
    expect(list.data.map(({ index }) => index)).toEqual([0, 1]);
    expect(list.data.map(({ embedding }) => embedding)).toEqual([
      first?.data[0]?.embedding,
      second?.data[0]?.embedding,
    ]);
    expect(list).toMatchObject({ object: "list", model: TINY.name, usage: { prompt_tokens: 10, total_tokens: 10 } });
  });

  it("can read our response headers", async () => {
    const { client } = await setUp();
    const { response } = await client.embeddings
      .create({ model: TINY.name, input: "a" }, { headers: { "x-latency-budget-ms": "60000" } })
      .withResponse();
    expect(response.headers.get("x-bert-edge-tier")).toBe("edge");
    expect(Number(response.headers.get("x-latency-budget-remaining-ms"))).toBeGreaterThan(0);
  });

  it.each([
    ["a wrong key", { apiKey: "wrong" }, {}, AuthenticationError, 401, "key_wrong"],
    ["an unknown model", {}, { model: "text-embedding-3-small" }, NotFoundError, 404, "model_unknown"],
    ["an empty text", {}, { input: "" }, BadRequestError, 400, "input_empty"],
    ["token ids", {}, { input: [1, 2] }, BadRequestError, 400, "request_invalid"],
    ["other dimensions", {}, { dimensions: 256 }, BadRequestError, 400, "dimensions_unsupported"],
    [
      "a fault of the deployment",
      { engine: { run: () => Promise.reject(new Error("SECRET")) } },
      {},
      InternalServerError,
      503,
      "model_unavailable",
    ],
  ])("throws its own error class for %s", async (_, options, changes, Class, status, code) => {
    const log = vi.spyOn(console, "error").mockReturnValue(undefined);
    const { client } = await setUp(options);
    const error = await client.embeddings
      .create({ model: TINY.name, input: "a", ...changes })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({
      status,
      code,
      type: expect.stringMatching(/^(invalid_request_error|server_error)$/),
    });
    expect(String(error)).not.toContain("SECRET");
    log.mockRestore();
  });
});
