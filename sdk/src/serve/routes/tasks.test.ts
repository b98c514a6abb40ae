import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../edge-app.ts";
import { regionTier } from "../region/region.ts";
import { createRegionApp } from "../region-app.ts";

errorLog();

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const labels = ["negative", "neutral", "positive"];
const classify: Task = { task: "classify", input: "text", labels };
const crossEncoder: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
const inference: Task = { task: "classify", input: "pair", labels: ["contradiction", "entailment", "neutral"] };
const sparse: Task = { task: "sparse" };
const tags: Task = { task: "tag", labels: ["O", "B-PER", "I-PER"] };
const answers: Task = { task: "answer" };
const masked: Task = { task: "fill-mask", mask: { id: 103, token: "[MASK]" } };
const tokenVectors: Task = { task: "token-vectors", dimensions: 4 };

/** Makes an edge with a region. Both serve a model for the task. */
async function setUp(task: Task) {
  const store = await taskStore(task);
  const region = createRegionApp({
    ...{ models: store, model: TINY.name, keys: ["r"] },
    engine: taskEngine(task, { target: "regional-cpu" }),
  });
  const asked: string[] = [];
  const edge = createEdgeApp({
    ...{ models: store, model: TINY.name, keys: ["k"], log: false as const },
    engine: taskEngine(task),
    region: regionTier({
      ...{ url: "http://region.test", key: "r" },
      fetch: (async (request: Request) => {
        asked.push(new URL(request.url).pathname);
        return region.fetch(request);
      }) as typeof fetch,
    }),
  });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    edge.request(path, {
      method: "POST",
      headers: { authorization: "Bearer k", "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  for (const app of [region, edge]) {
    await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
  }
  return { post, asked };
}

const two = ["to be", "or not to be"];

const context = "🗼 To be or not to be, that is the question. ".repeat(3);

const FILLED = {
  token: expect.any(String),
  token_id: expect.any(Number),
  score: expect.any(Number),
  sequence: expect.any(String),
};

/** For each route: a model, a body, and what the answer has. */
const answered: [path: string, model: Task, body: object, answer: object][] = [
  ["/v1/tag", tags, { inputs: two }, { results: [expect.any(Array), expect.any(Array)] }],
  [
    "/v1/answer",
    answers,
    { question: "What?", context, doc_stride: 2, top_k: 2 },
    { results: [Array(2).fill(expect.objectContaining({ answer: expect.any(String) }))] },
  ],
  [
    "/v1/answer",
    answers,
    {
      inputs: [
        { question: "What?", context },
        { question: "Who?", context: "You" },
      ],
      doc_stride: 0,
    },
    { results: [expect.any(Array), expect.any(Array)] },
  ],
  [
    "/v1/fill-mask",
    masked,
    { inputs: ["to [MASK]", "[MASK] or [MASK]"], top_k: 2 },
    { results: [[Array(2).fill(FILLED)], Array(2).fill(Array(2).fill(FILLED))] },
  ],
  [
    "/v1/fill-mask",
    masked,
    { inputs: "to [MASK]", targets: ["be"] },
    { results: [[[{ ...FILLED, token: "be", token_id: 2022, sequence: "to be" }]]] },
  ],
  ["/v1/embed", embed, { inputs: two, dimensions: 4 }, { embeddings: [expect.any(Array), expect.any(Array)] }],
  [
    "/v1/sparse",
    sparse,
    { inputs: two },
    { embeddings: Array(2).fill({ indices: expect.any(Array), values: expect.any(Array) }) },
  ],
  ["/v1/token-vectors", tokenVectors, { inputs: two }, { dimensions: 4, usage: { tokens: 10 } }],
  [
    "/v1/classify",
    classify,
    { inputs: two, top_k: 2 },
    { results: Array(2).fill(Array(2).fill({ label: expect.any(String), score: expect.any(Number) })) },
  ],
  [
    "/v1/classify",
    inference,
    { inputs: { text: "to be", text_pair: "or not" } },
    { results: [Array(3).fill(expect.anything())] },
  ],
  [
    "/v1/zero-shot",
    inference,
    { inputs: "to be", candidate_labels: ["a", "b"] },
    { results: [Array(2).fill(expect.anything())] },
  ],
  [
    "/v1/zero-shot",
    embed,
    { inputs: two, candidate_labels: ["a", "b"] },
    { results: Array(2).fill(Array(2).fill(expect.anything())) },
  ],
  [
    "/v1/similarity",
    embed,
    { source: "to be", texts: ["to be", "or not"] },
    { scores: [expect.closeTo(1, 6), expect.any(Number)] },
  ],
  [
    "/v1/similarity",
    crossEncoder,
    { source: "to be", texts: two },
    { scores: [expect.any(Number), expect.any(Number)] },
  ],
  [
    "/v1/rerank",
    crossEncoder,
    { query: "to be", documents: ["a", { text: "b" }, "c"], top_n: 2 },
    {
      results: Array(2).fill({
        index: expect.any(Number),
        relevance_score: expect.any(Number),
        document: { text: expect.any(String) },
      }),
    },
  ],
  [
    "/v1/rerank",
    embed,
    { query: "or not", documents: ["a", "or not", "c"], return_documents: false },
    { results: [{ index: 1, relevance_score: expect.closeTo(1, 6) }, expect.anything(), expect.anything()] },
  ],
];

describe.each(answered)("POST %s of a model %o", (path, model, body, answer) => {
  it("answers the same at the edge and in the region", async () => {
    const { post, asked } = await setUp(model);
    const here = await post(path, body, { "x-bert-edge-tier": "edge" });
    const there = await post(path, body, { "x-bert-edge-tier": "region" });
    const [ours, theirs] = [await here.json(), await there.json()] as [object, object];
    expect(here.status).toBe(200);
    expect(ours).toMatchObject({ model: TINY.name, tier: "edge", ...answer });
    expect(theirs).toEqual({ ...ours, tier: "region" });
    expect(asked).toContain("/v1/outputs");
  });
});

describe("a model of another task", () => {
  it.each([
    ["/v1/embed", { inputs: "a" }],
    ["/v1/embeddings", { input: "a", model: TINY.name }],
    ["/v1/sparse", { inputs: "a" }],
    ["/v1/token-vectors", { inputs: "a" }],
  ])("is refused by %s, which names its task", async (path, body) => {
    const { post } = await setUp(classify);
    const response = await post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: "task_unsupported", message: expect.stringContaining("classify") },
    });
  });

  it.each([
    ["/v1/zero-shot", { inputs: "a", candidate_labels: ["a"] }],
    ["/v1/similarity", { source: "a", texts: ["b"] }],
    ["/v1/rerank", { query: "a", documents: ["b"] }],
  ])("is refused by %s, which names its labels", async (path, body) => {
    const { post } = await setUp(classify);
    expect(await (await post(path, body)).json()).toMatchObject({
      error: { code: "task_unsupported", message: expect.stringContaining("negative, neutral, positive") },
    });
  });

  it("is refused by /v1/classify", async () => {
    const { post } = await setUp(embed);
    expect(await (await post("/v1/classify", { inputs: "a" })).json()).toMatchObject({
      error: { code: "task_unsupported" },
    });
  });
});

describe("faults of requests", () => {
  const pair = { text: "a", text_pair: "b" };
  it.each<[what: string, model: Task, path: string, body: object, error: object]>([
    [
      "a pair for a classifier of texts",
      classify,
      "/v1/classify",
      { inputs: ["a", pair] },
      { code: "request_invalid", index: 1 },
    ],
    [
      "a text for a classifier of pairs",
      inference,
      "/v1/classify",
      { inputs: [pair, "a"] },
      { code: "request_invalid", index: 1 },
    ],
    [
      "an empty document",
      crossEncoder,
      "/v1/rerank",
      { query: "a", documents: ["b", " "] },
      { code: "input_empty", index: 1 },
    ],
    ["an empty query", embed, "/v1/rerank", { query: "", documents: ["b"] }, { code: "input_empty" }],
    ["no labels", embed, "/v1/zero-shot", { inputs: "a", candidate_labels: [] }, { code: "request_invalid" }],
    [
      "a template without a place for the label",
      embed,
      "/v1/zero-shot",
      { inputs: "a", candidate_labels: ["b"], hypothesis_template: "It is." },
      { code: "request_invalid" },
    ],
    [
      "a template with other braces",
      embed,
      "/v1/zero-shot",
      { inputs: "a", candidate_labels: ["b"], hypothesis_template: "{{}}" },
      { code: "request_invalid" },
    ],
    [
      "too many labels",
      embed,
      "/v1/zero-shot",
      { inputs: Array(1_025).fill("a"), candidate_labels: ["b", "c"] },
      { code: "too_many_inputs" },
    ],
    [
      "a text that is too long",
      crossEncoder,
      "/v1/similarity",
      { source: "a", texts: ["b", "c ".repeat(40)] },
      { code: "input_too_long", index: 1 },
    ],
    [
      "vectors larger than the model's",
      embed,
      "/v1/embed",
      { inputs: "a", dimensions: 9 },
      { code: "dimensions_unsupported" },
    ],
    [
      "a prompt that does not exist",
      embed,
      "/v1/embed",
      { inputs: "a", prompt_name: "web" },
      { code: "prompt_unknown" },
    ],
    [
      "ids that are not base64",
      embed,
      "/v1/outputs",
      { model: TINY.name, sequences: [{ ids: "%" }] },
      { code: "request_invalid" },
    ],
    [
      "ids beyond the vocabulary",
      embed,
      "/v1/outputs",
      { model: TINY.name, sequences: [{ ids: "////fw==" }] },
      { code: "request_invalid", index: 0 },
    ],
    [
      "negative ids",
      embed,
      "/v1/outputs",
      { model: TINY.name, sequences: [{ ids: "AQAAAA==" }, { ids: "/////w==" }] },
      { code: "request_invalid", index: 1 },
    ],
    [
      "no ids",
      embed,
      "/v1/outputs",
      { model: TINY.name, sequences: [{ ids: "" }] },
      { code: "request_invalid", index: 0 },
    ],
    [
      "a second text after the end",
      inference,
      "/v1/outputs",
      { model: TINY.name, sequences: [{ ids: "AQAAAA==", second_from: 2 }] },
      { code: "request_invalid", index: 0 },
    ],
  ])("%s", async (_, model, path, body, error) => {
    const { post } = await setUp(model);
    const response = await post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error });
  });

  it("cuts documents by default, and refuses long ones with truncate: false", async () => {
    const { post } = await setUp(crossEncoder);
    const body = { query: "a", documents: ["b ".repeat(40)] };
    expect((await post("/v1/rerank", body)).status).toBe(200);
    expect(await (await post("/v1/rerank", { ...body, truncate: false })).json()).toMatchObject({
      error: { code: "input_too_long" },
    });
  });
});

describe("offsets", () => {
  it("count code points, and every part of a text has its own text", async () => {
    const text = "🗼 Anna 👩‍👩‍👧 works in 🗼 York";
    const { post } = await setUp(tags);
    const body = { inputs: [text], aggregation_strategy: "none", ignore_labels: [] };
    const { results } = (await (await post("/v1/tag", body)).json()) as {
      results: [{ text: string; start: number; end: number }[]];
    };
    expect(results[0].length).toBeGreaterThan(5);
    const points = [...text];
    for (const { text: part, start, end } of results[0]) expect(points.slice(start, end).join("")).toBe(part);
  });

  it("of answers are those in the context", async () => {
    const { post } = await setUp(answers);
    const { results } = (await (
      await post("/v1/answer", { question: "What?", context, top_k: 5, doc_stride: 3 })
    ).json()) as {
      results: [{ answer: string; start: number; end: number }[]];
    };
    expect(results[0]).toHaveLength(5);
    for (const { answer, start, end } of results[0]) expect([...context].slice(start, end).join("")).toBe(answer);
  });

  it("refuse a question that leaves no room for the context", async () => {
    const { post } = await setUp(answers);
    const response = await post("/v1/answer", { question: "word ".repeat(20), context: "a" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "input_too_long" } });
  });
});

describe("number formats of vectors", () => {
  it("are float32, int8 with a scale per vector, and a bit per dimension", async () => {
    const { post } = await setUp(embed);
    const vectorAs = async (fields: object) => {
      const { embeddings } = (await (await post("/v1/embed", { inputs: "to be", ...fields })).json()) as {
        embeddings: (number[] | string)[];
      };
      return embeddings[0];
    };
    const floats = (await vectorAs({})) as number[];
    const largest = Math.max(...floats.map(Math.abs));
    const int8 = await vectorAs({ output_type: "int8" });
    expect(int8).toEqual(floats.map((value) => Math.round((127 * value) / largest) + 0));
    const bits = floats.reduce((byte, value, i) => byte | (value > 0 ? 0x80 >> i : 0), 0);
    expect(await vectorAs({ output_type: "ubinary" })).toEqual([bits]);
    expect(await vectorAs({ output_type: "binary" })).toEqual([bits - 128]);
    expect(await vectorAs({ output_type: "ubinary", encoding_format: "base64" })).toBe(btoa(String.fromCharCode(bits)));
  });
});

describe("token vectors", () => {
  it("have the length 1 each, at the edge and in the region", async () => {
    const { post } = await setUp(tokenVectors);
    for (const tier of ["edge", "region"]) {
      const response = await post("/v1/token-vectors", { inputs: two }, { "x-bert-edge-tier": tier });
      const { embeddings } = (await response.json()) as { embeddings: number[][][] };
      expect(embeddings.map(({ length }) => length)).toEqual([4, 6]);
      for (const vector of embeddings.flat()) expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
    }
  });
});

describe("the sides of a search", () => {
  const TWO_AND_BE = [2000, 2022];
  const withProtocol: Task = {
    ...tokenVectors,
    protocol: {
      query: { length: 9, marker: 1, expansion: { token: 103, isAttended: false } },
      document: { length: 8, marker: 2, skipped: TWO_AND_BE.slice(1) },
    },
  };

  it("are read differently, at the edge and in the region", async () => {
    const { post, asked } = await setUp(withProtocol);
    const rows = async (body: object, tier: string) => {
      const response = await post("/v1/token-vectors", body, { "x-bert-edge-tier": tier });
      return ((await response.json()) as { embeddings: number[][][] }).embeddings;
    };
    const found = [];
    for (const tier of ["edge", "region"]) {
      const query = await rows({ inputs: ["to be"], side: "query" }, tier);
      const document = await rows({ inputs: ["to be"], side: "document" }, tier);
      expect(query.map(({ length }) => length)).toEqual([9]);
      // [CLS], the marker, `to` and [SEP], but not `be`.
      expect(document.map(({ length }) => length)).toEqual([4]);
      expect(await rows({ inputs: ["to be"] }, tier)).toEqual(document);
      found.push([query, document]);
    }
    expect(found[0]).toEqual(found[1]);
    expect(asked.filter((path) => path === "/v1/outputs")).toHaveLength(3);
  });

  it("are in /info", async () => {
    const infoOf = async (task: Task) => {
      const models = await taskStore(task);
      const app = createEdgeApp({ models, model: TINY.name, keys: ["k"], log: false, engine: taskEngine(task) });
      return (await app.request("/info", { headers: { authorization: "Bearer k" } })).json();
    };
    expect(await infoOf(withProtocol)).toMatchObject({ sides: ["query", "document"] });
    expect(await infoOf(tokenVectors)).not.toHaveProperty("sides");
  });

  it("have lengths of their own", async () => {
    const { post } = await setUp(withProtocol);
    const inputs = ["to be or not to be"];
    expect((await post("/v1/token-vectors", { inputs, side: "query" })).status).toBe(200);
    const refused = await post("/v1/token-vectors", { inputs, side: "document" });
    expect(await refused.json()).toMatchObject({ error: { code: "input_too_long", index: 0 } });
    expect((await post("/v1/token-vectors", { inputs, side: "document", truncate: true })).status).toBe(200);
  });

  it("are refused by name if the model has none, and if there is no such side", async () => {
    const { post } = await setUp(tokenVectors);
    const refused = await post("/v1/token-vectors", { inputs: "to be", side: "query" });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: "request_invalid", message: expect.stringContaining("has no side query") },
    });
    const unknown = await (await setUp(withProtocol)).post("/v1/token-vectors", { inputs: "to be", side: "passage" });
    expect(await unknown.json()).toMatchObject({ error: { message: expect.stringContaining("side") } });
  });
});

describe("a prompt that is not pooled", () => {
  it("gives the same vectors at the edge and in the region", async () => {
    const { post, asked } = await setUp({ ...embed, prompts: { query: "not " }, poolsPrompt: false } as Task);
    const vectors = async (tier: string) =>
      (
        (await (
          await post("/v1/embed", { inputs: two, prompt_name: "query" }, { "x-bert-edge-tier": tier })
        ).json()) as { embeddings: number[][] }
      ).embeddings;
    expect(await vectors("region")).toEqual(await vectors("edge"));
    expect(asked).toContain("/v1/outputs");
  });
});

describe("token ids", () => {
  const ids = [101, 2000, 2022, 102];

  it("are embedded like the text that they stand for, on every route, at the edge and in the region", async () => {
    const { post, asked } = await setUp(embed);
    const vectors = async (path: string, body: object, tier: string) => {
      const json = await (await post(path, body, { "x-bert-edge-tier": tier })).json();
      return (
        (json as { embeddings?: unknown }).embeddings ??
        (json as { data?: { embedding: unknown }[] }).data?.map(({ embedding }) => embedding) ??
        json
      );
    };
    const expected = await vectors("/v1/embed", { inputs: ["to be"] }, "edge");
    for (const tier of ["edge", "region"]) {
      for (const given of [ids, [ids]]) {
        expect(await vectors("/v1/embed", { inputs: given }, tier)).toEqual(expected);
        expect(await vectors("/embed", { inputs: given }, tier)).toEqual(expected);
        expect(await vectors("/v1/embeddings", { input: given, model: TINY.name }, tier)).toEqual(expected);
      }
    }
    expect(asked).toContain("/v1/outputs");
  });

  it("of another tokenizer are refused, and too many are refused or cut", async () => {
    const { post } = await setUp(embed);
    // What tiktoken's cl100k_base makes of "to be", and other lists.
    for (const wrong of [[998, 387], [101, 2000], [101, 99_999, 102], [[101, 102], []], [102]]) {
      const response = await post("/v1/embeddings", { input: wrong, model: TINY.name });
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([400, "request_invalid"]);
      expect(error.message).toContain("check_embedding_ctx_length");
    }
    const long = [101, ...Array<number>(30).fill(2000), 102];
    const refused = await post("/v1/embed", { inputs: long });
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "input_too_long" } }]);
    const cut = (await (await post("/v1/embed", { inputs: long, truncate: true })).json()) as object;
    const text = (await (await post("/v1/embed", { inputs: "to ".repeat(30), truncate: true })).json()) as object;
    expect(cut).toEqual(text);
  });
});

describe("texts in chunks", () => {
  it("have the mean of the chunks' vectors, weighted by tokens, at the edge and in the region", async () => {
    const { post } = await setUp(embed);
    const vectorsOf = async (body: object, tier = "edge") => {
      const response = await post("/v1/embed", body, { "x-bert-edge-tier": tier });
      return ((await response.json()) as { embeddings: number[][] }).embeddings;
    };
    // The model takes 16 tokens, of which two are special.
    const [first = [], second = [], short = []] = await vectorsOf({
      inputs: ["to ".repeat(14), "be ".repeat(6), "or"],
    });
    const sum = first.map((value, i) => 16 * value + 8 * (second[i] as number));
    const length = Math.hypot(...sum);
    const inputs = ["or", `${"to ".repeat(14)}${"be ".repeat(6)}`];
    for (const tier of ["edge", "region"]) {
      const [alone = [], pooled = []] = await vectorsOf({ inputs, pool_chunks: true }, tier);
      expect(alone).toEqual(short);
      pooled.forEach((value, i) => {
        expect(value).toBeCloseTo((sum[i] as number) / length, 6);
      });
      const [cut] = await vectorsOf({ inputs: inputs.slice(1), pool_chunks: true, dimensions: 4 }, tier);
      expect(cut).toHaveLength(4);
    }
  });

  it("count as inputs", async () => {
    const { post } = await setUp(embed);
    const response = await post("/v1/embed", { inputs: "to ".repeat(14 * 2_049), pool_chunks: true });
    expect(await response.json()).toMatchObject({ error: { code: "too_many_inputs" } });
  });
});
