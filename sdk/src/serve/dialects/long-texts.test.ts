import { describe, expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import type { CallDefaults } from "../call-defaults.ts";
import { createEdgeApp } from "../edge-app.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const MAX_TOKENS = 12;
/** Its beginning and its end differ. */
const LONG = `${"to be or not ".repeat(20)}${"that is the question ".repeat(20)}`;

/** Makes an edge with these defaults of the deployment and of its key. */
async function setUp(defaults: CallDefaults = {}, key: CallDefaults = {}) {
  const models = await taskStore(embed, MAX_TOKENS);
  const options = { models, model: TINY.name, log: false, cpuLimitMs: 1e9, engine: taskEngine(embed) } as const;
  const app = createEdgeApp({ ...options, keys: [{ key: "k", ...key }], defaults });
  const headers = { authorization: "Bearer k", "content-type": "application/json" };
  const post = (path: string, body: object) =>
    app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
  /** Returns vector and tokens of a text on OpenAI's route; undefined if it is refused as too long. */
  const openai = async (fields: object = {}, input = LONG) => {
    const response = await post("/v1/embeddings", { input, ...fields });
    const { data, usage, error } = (await response.json()) as {
      data?: { embedding: number[] }[];
      usage?: { prompt_tokens: number; total_tokens: number };
      error?: { code: string };
    };
    if (error) expect(error.code).toBe("input_too_long");
    return data && { vector: data[0]?.embedding, tokens: usage?.prompt_tokens, total: usage?.total_tokens };
  };
  const own = async (fields: object) => {
    const { embeddings } = (await (await post("/v1/embed", { inputs: LONG, ...fields })).json()) as {
      embeddings: number[][];
    };
    return embeddings[0];
  };
  const get = async (path: string) => (await app.request(path, { headers })).json();
  return { app, post, openai, own, get };
}

describe("a text that is too long, on OpenAI's route", () => {
  it("is refused by default, with a hint that its clients can follow", async () => {
    const { post, openai } = await setUp();
    const refused = await post("/v1/embeddings", { input: ["short", LONG] });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: {
        code: "input_too_long",
        message: expect.stringMatching(/`truncate` to true.* API key the option `truncate`/),
      },
    });
    expect((await openai({ truncate: true }))?.tokens).toBe(MAX_TOKENS);
  });

  it.each<[string, CallDefaults, CallDefaults]>([
    ["the deployment", { truncate: true }, {}],
    ["the key", {}, { truncate: true }],
    ["the key rather than the deployment", { truncate: false }, { truncate: true }],
  ])("is cut if %s says so, and usage counts what was read", async (_, defaults, key) => {
    const { openai, own } = await setUp(defaults, key);
    expect(await openai()).toEqual({
      vector: await own({ truncate: true }),
      tokens: MAX_TOKENS,
      total: MAX_TOKENS,
    });
    expect(await openai({ truncate: false })).toBeUndefined();
    expect(await openai({ truncation: false })).toBeUndefined();
    expect((await openai({ truncate: "left" }))?.vector).toEqual(await own({ truncate: "left" }));
  });

  it.each<[object, object]>([
    [{ truncate: "right" }, { truncate: "right" }],
    [{ truncate: "left" }, { truncate: "left" }],
    [{ truncate: "START" }, { truncate: "left" }],
    [{ truncate: "END" }, { truncate: "right" }],
    [{ truncation: true }, { truncate: true }],
    [{ truncate_prompt_tokens: -1 }, { truncate: true }],
    [{ truncate_prompt_tokens: -1, truncation_side: "left" }, { truncate: "left" }],
    [{ truncate: true, truncation_side: "left" }, { truncate: "left" }],
    [{ truncate_prompt_tokens: 10_000 }, { truncate: true }],
    [{ pool_chunks: true }, { pool_chunks: true }],
  ])("with %j has the vector of %j on /v1/embed", async (fields, same) => {
    const { openai, own } = await setUp();
    expect((await openai(fields))?.vector).toEqual(await own(same));
  });

  it("is cut to fewer tokens than the model reads", async () => {
    const { openai } = await setUp();
    const cut = await openai({ truncate_prompt_tokens: 6 });
    expect(cut).toEqual({ ...(await openai({}, "to be or not")), tokens: 6, total: 6 });
    expect(await openai({ truncate: false, truncate_prompt_tokens: 6 })).toBeUndefined();
  });

  it.each<[object, object]>([
    [{}, {}],
    [{ truncate: "END" }, { truncation_side: "right" }],
    [{ truncate: "START" }, { truncation_side: "left" }],
  ])("is cut on /v2/embed to max_tokens with %j", async (fields, same) => {
    const { post, openai } = await setUp();
    const response = await post("/v2/embed", { texts: [LONG], max_tokens: 6, ...fields });
    const { embeddings, meta } = (await response.json()) as { embeddings: { float: number[][] }; meta: object };
    const expected = await openai({ truncate_prompt_tokens: 6, ...same });
    expect(embeddings.float[0]).toEqual(expected?.vector);
    expect(meta).toMatchObject({ billed_units: { input_tokens: 6 } });
  });

  it("is refused on /v2/embed if it has more than max_tokens, and NONE is asked for", async () => {
    const { post } = await setUp();
    const body = { texts: ["to be or not"], max_tokens: 4, truncate: "NONE" };
    expect((await post("/v2/embed", body)).status).toBe(400);
    expect((await post("/v2/embed", { ...body, max_tokens: 6 })).status).toBe(200);
  });

  it.each([{ truncate: "NONE" }, { truncate: false }, { truncate: null }, { truncation_side: "left" }])(
    "with %j is refused",
    async (fields) => {
      expect(await (await setUp()).openai(fields)).toBeUndefined();
    },
  );
});

const cutting: readonly (readonly [string, object])[] = [
  ["/embed", { inputs: LONG }],
  ["/v2/embed", { texts: [LONG] }],
  ["/", { inputs: LONG }],
  ["/v1/rerank", { query: "a", documents: [LONG] }],
  ["/rerank", { query: "a", texts: [LONG] }],
  ["/similarity", { inputs: { source_sentence: "a", sentences: [LONG] } }],
];

describe("the option truncate of a deployment", () => {
  it.each(cutting)("counts on POST %s, which cuts by default", async (path, body) => {
    expect((await (await setUp()).post(path, body)).status).toBe(200);
    expect((await (await setUp({ truncate: false })).post(path, body)).status).toBeGreaterThanOrEqual(400);
    expect((await (await setUp({ truncate: "left" })).post(path, body)).status).toBe(200);
  });

  it("counts for calls in process, and is in /info", async () => {
    const { app, get, own } = await setUp({ truncate: "left" });
    const { embeddings: vectors } = await app.embed({ env: {}, executionCtx: { waitUntil: () => {} } }, [LONG]);
    expect([...(vectors[0] as Float32Array)].map((value) => Math.fround(value))).toEqual(
      (await own({ truncate: "left" }))?.map((value) => Math.fround(value)),
    );
    expect(await get("/info")).toMatchObject({ auto_truncate: true, truncate: "left" });
  });

  it("is refused with another value", async () => {
    await expect(setUp({ truncate: "START" as never })).rejects.toMatchObject({ code: "setting_invalid" });
  });
});
