import { readFile } from "node:fs/promises";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Stack } from "#sdk/cli/dev/stack.ts";
import { tour } from "#sdk/cli/dev/tour.ts";
import { BertEdge } from "#sdk/client/bert-edge.ts";
import { AuthenticationError, InvalidRequestError } from "#sdk/client/errors.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { startDefaultStack } from "./default-stack.ts";

/**
 * Minimum cosine between vectors from the edge and from the region, which quantize to int8 in different ways. Measured:
 * 0.9989 for a long text, 0.998 for short texts.
 */
const TIER_COSINE = 0.995;
/** Minimum cosine between int8 vectors and transformers' float32 vectors. `prepare` has the same limit. */
const GOLDEN_COSINE = 0.975;

const longText = "The wheel still turns whenever the sluice is open. ".repeat(18);

describe("the whole product", () => {
  let stack: Stack;
  let edge: BertEdge;

  beforeAll(async () => {
    stack = await startDefaultStack();
    edge = new BertEdge({ baseURL: stack.edge.url, apiKey: stack.edge.key });
  });
  afterAll(() => stack?.stop());

  it("answers at the edge, in workerd, with transformers' vectors", async () => {
    const { cases } = JSON.parse(await readFile("models/default/golden.json", "utf8")) as {
      cases: { text: string; embedding: number[] }[];
    };
    const some = cases.filter(({ text }) => text.trim() !== "").slice(0, 20);
    const { embeddings, tier, reason, model } = await edge.embed(
      some.map(({ text }) => text),
      { truncate: true },
    );
    expect({ tier, reason, model }).toEqual({ tier: "edge", reason: "no-budget", model: "bert-edge-mini" });
    some.forEach(({ embedding }, i) => {
      expect(cosine(Float32Array.from(embedding), embeddings[i] ?? new Float32Array())).toBeGreaterThan(GOLDEN_COSINE);
    });
  });

  it("returns the same vector on both tiers, alone or in a batch", async () => {
    const region = new BertEdge({ baseURL: stack.region?.url ?? "", apiKey: stack.region?.key ?? "" });
    const atEdge = await edge.embed(longText);
    const inRegion = await region.embed(["another text", longText]);
    expect(inRegion.tier).toBe("region");
    expect(inRegion.version).toBe(atEdge.version);
    const vectors = [atEdge.embeddings[0], inRegion.embeddings[1]];
    expect(cosine(vectors[0] as Float32Array, vectors[1] as Float32Array)).toBeGreaterThan(TIER_COSINE);
  });

  it("describes the answer in the response's headers", async () => {
    const response = await post("/v1/embed", { inputs: "hello" }, { "x-latency-budget-ms": "5000" });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-bert-edge-tier")).toBe("edge");
    expect(response.headers.get("x-bert-edge-reason")).toBe("within-budget");
    expect(response.headers.get("x-bert-edge-model")).toBe(`bert-edge-mini@${stack.published[0]?.version}`);
    expect(response.headers.get("x-bert-edge-provider")).toBe("wasm");
    expect(Number(response.headers.get("x-bert-edge-predicted-ms"))).toBeGreaterThan(0);
    expect(Number(response.headers.get("x-latency-budget-remaining-ms"))).toBeLessThan(5000);
    expect(response.headers.get("server-timing")).toMatch(/compute;dur=[\d.]+, total;dur=[\d.]+/);
  });

  it("serves the openai package", async () => {
    const openai = new OpenAI({ baseURL: `${stack.edge.url}/v1`, apiKey: stack.edge.key, maxRetries: 0 });
    const ours = await edge.embed(["one", "two"]);
    // OpenAI's package requests base64 by default, and decodes the response.
    for (const encoding_format of [undefined, "float", "base64"] as const) {
      const { data, model, usage } = await openai.embeddings.create({
        model: "bert-edge-mini",
        input: ["one", "two"],
        ...(encoding_format && { encoding_format }),
      });
      expect(model).toBe("bert-edge-mini");
      expect(usage.prompt_tokens).toBe(ours.tokens);
      const vectors = data.map(({ embedding }) =>
        typeof embedding === "string"
          ? [...new Float32Array(new Uint8Array(Buffer.from(embedding, "base64")).buffer)]
          : embedding,
      );
      expect(vectors.map((vector) => Float32Array.from(vector))).toEqual(ours.embeddings);
    }
    await expect(openai.embeddings.create({ model: "text-embedding-3-small", input: "x" })).rejects.toMatchObject({
      status: 404,
      code: "model_unknown",
    });
    await expect(
      new OpenAI({ baseURL: `${stack.edge.url}/v1`, apiKey: "wrong", maxRetries: 0 }).embeddings.create({
        model: "bert-edge-mini",
        input: "x",
      }),
    ).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it.each<[string, number, string, unknown, Record<string, string>?]>([
    ["an empty text", 400, "input_empty", { inputs: "" }],
    ["no texts", 400, "input_empty", { inputs: [] }],
    ["too many texts", 400, "too_many_inputs", { inputs: Array(2_049).fill("a") }],
    ["a text that is too long", 400, "input_too_long", { inputs: "word ".repeat(300) }],
    ["wrong types", 400, "request_invalid", { inputs: 7 }],
    ["a body that is not JSON", 400, "request_invalid", "{"],
    ["a budget that is not a number", 400, "budget_invalid", { inputs: "a" }, { "x-latency-budget-ms": "soon" }],
    ["an unknown model", 404, "model_unknown", { inputs: "a", model: "gpt" }],
    ["a body over the limit", 413, "body_too_large", { inputs: "a".repeat(4_000_001) }],
    ["another content type", 415, "content_type_unsupported", { inputs: "a" }, { "content-type": "text/plain" }],
    ["a missing key", 401, "key_missing", { inputs: "a" }, { authorization: "" }],
    ["a wrong key", 401, "key_wrong", { inputs: "a" }, { authorization: "Bearer nonsense" }],
  ])("refuses %s with %i %s", async (_, status, code, body, headers) => {
    const response = await post("/v1/embed", body, headers);
    expect({ status: response.status, body: await response.json() }).toMatchObject({
      status,
      body: { error: { code } },
    });
  });

  it("truncates a text that is too long on request", async () => {
    const { tokens } = await edge.embed("word ".repeat(300), { truncate: true });
    expect(tokens).toBe(256);
  });

  it("throws the client's error classes", async () => {
    await expect(edge.embed("")).rejects.toBeInstanceOf(InvalidRequestError);
    const stranger = new BertEdge({ baseURL: stack.edge.url, apiKey: "nonsense" });
    await expect(stranger.embed("a")).rejects.toBeInstanceOf(AuthenticationError);
  });

  it("shows every kind of tier decision in the tour of `npm start`", async () => {
    const rows = (await tour(stack)).split("\n").slice(2);
    expect(rows).toHaveLength(16);
    for (const row of rows) expect(row).toMatch(/ (edge|region) .* 0\.99[5-9]\d{3}$/);
  });

  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(stack.edge.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${stack.edge.key}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
});
