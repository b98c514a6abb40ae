import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { JSON_TOKENIZER, publishTiny, TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { ObjectStore } from "../../storage/store.ts";
import { createEdgeApp } from "../edge-app.ts";

errorLog();

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const prompted: Task = { ...embed, prompts: { query: "query: ", passage: "passage: " } };
const raw: Task = { ...embed, normalize: false };
const classify: Task = { task: "classify", input: "text", labels: ["no", "yes"] };
const inference: Task = { task: "classify", input: "pair", labels: ["contradiction", "entailment"] };
const crossEncoder: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
/** Models whose authors chose other scores than the usual ones. */
const withLogits: Task = { ...crossEncoder, activation: "none" };
const byDistance: Task = { ...raw, similarity: "euclidean" };
const sparse: Task = { task: "sparse" };
const tags: Task = { task: "tag", labels: ["O", "B-PER", "I-PER"] };
const answers: Task = { task: "answer" };
const masked: Task = { task: "fill-mask", mask: { id: 103, token: "[MASK]" } };
const tokenVectors: Task = { task: "token-vectors", dimensions: 4 };

/** Makes an edge that serves a model for a task. */
async function setUp(task: Task, models?: ObjectStore) {
  models ??= await taskStore(task);
  const edge = createEdgeApp({ models, model: TINY.name, keys: ["k"], log: false, engine: taskEngine(task) });
  const post = (path: string, body: object, key = "k") =>
    edge.request(path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const read = async (path: string, body: object): Promise<unknown> => {
    const response = await post(path, body);
    const json = await response.json();
    expect({ status: response.status, json }).toMatchObject({ status: 200 });
    return json;
  };
  const own = async (path: string, body: object) => (await read(path, body)) as { [name: string]: unknown };
  return { post, read, own };
}

const two = ["to be", "or not to be"];

describe("text-embeddings-inference", () => {
  it("POST /embed gives the vectors of /v1/embed, and describes the work in its headers", async () => {
    const { post, own } = await setUp(embed);
    const response = await post("/embed", { inputs: two });
    expect(await response.json()).toEqual((await own("/v1/embed", { inputs: two }))["embeddings"]);
    const header = (name: string) => response.headers.get(name);
    expect(header("x-compute-type")).toBe("cpu");
    expect(header("x-compute-characters")).toBe(`${two.join("").length}`);
    expect(header("x-compute-tokens")).toBe("10");
    for (const name of ["x-compute-time", "x-total-time", "x-tokenization-time", "x-queue-time", "x-inference-time"]) {
      expect(header(name)).toMatch(/^\d+$/);
    }
  });

  it("POST /embed cuts long texts unless truncate is false, and takes null for what is left out", async () => {
    const { post } = await setUp(embed);
    const long = "word ".repeat(40);
    expect((await post("/embed", { inputs: long, truncate: null, prompt_name: null, dimensions: null })).status).toBe(
      200,
    );
    const refused = await post("/embed", { inputs: long, truncate: false });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ error: expect.stringMatching(/tokens/), error_type: "Tokenizer" });
  });

  it("POST /embed normalizes unless normalize is false, which a normalizing model cannot do", async () => {
    const plain = await setUp(raw);
    const norm = async (fields: object) =>
      Math.hypot(...((await plain.read("/embed", { inputs: "to be", ...fields })) as [number[]])[0]);
    expect(await norm({})).toBeCloseTo(1, 6);
    expect(Math.abs((await norm({ normalize: false })) - 1)).toBeGreaterThan(0.01);
    const { post } = await setUp(embed);
    const refused = await post("/embed", { inputs: "to be", normalize: false });
    expect({ status: refused.status, ...((await refused.json()) as object) }).toMatchObject({
      status: 422,
      error_type: "Validation",
    });
  });

  it("POST /embed puts a prompt before each text", async () => {
    const { read } = await setUp(prompted);
    expect(await read("/embed", { inputs: "to be", prompt_name: "query" })).toEqual(
      await read("/embed", { inputs: "query: to be" }),
    );
  });

  it("POST /predict takes a text, a pair, or a list of them", async () => {
    const texts = await setUp(classify);
    const [first, second] = (await texts.own("/v1/classify", { inputs: two }))["results"] as unknown[];
    expect(await texts.read("/predict", { inputs: two[0] })).toEqual(first);
    expect(await texts.read("/predict", { inputs: [two[1]] })).toEqual(second);
    expect(await texts.read("/predict", { inputs: two.map((text) => [text]) })).toEqual([first, second]);
    const pairs = await setUp(inference);
    const [scored] = (await pairs.own("/v1/classify", { inputs: { text: "a", text_pair: "b" } }))[
      "results"
    ] as unknown[];
    expect(await pairs.read("/predict", { inputs: ["a", "b"] })).toEqual(scored);
    expect(
      await pairs.read("/predict", {
        inputs: [
          ["a", "b"],
          ["a", "b"],
        ],
      }),
    ).toEqual([scored, scored]);
  });

  it("POST /rerank gives scores, best first, and texts if asked", async () => {
    const { read } = await setUp(crossEncoder);
    const body = { query: "a", texts: ["b", "c", "d"] };
    const scored = (await read("/rerank", body)) as { index: number; score: number }[];
    expect(scored.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
    expect(scored.map(({ score }) => score)).toEqual(scored.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(await read("/rerank", { ...body, top_n: 1 })).toEqual(scored.slice(0, 1));
    const raw = (await read("/rerank", { ...body, raw_scores: true, return_text: true })) as {
      index: number;
      score: number;
      text: string;
    }[];
    expect(raw.map(({ index, text }) => body.texts[index] === text)).toEqual([true, true, true]);
    expect(raw.map(({ score }) => 1 / (1 + Math.exp(-score)))).toEqual(
      scored.map(({ score }) => expect.closeTo(score, 12)),
    );
  });

  it("POST /rerank with `documents` answers as /v1/rerank does", async () => {
    const { post, own } = await setUp(withLogits);
    const body = { model: TINY.name, query: "a", documents: ["b", { text: "c" }, "d"], top_n: 2 };
    for (const more of [{}, { return_documents: false }])
      expect(await own("/rerank", { ...body, ...more })).toEqual(await own("/v1/rerank", { ...body, ...more }));
    const refused = await post("/rerank", { query: "a", documents: ["a"], top_m: 1 });
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 422,
      body: { error: expect.stringContaining("top_n"), error_type: "Validation" },
    });
    expect(await (await post("/rerank", { query: "a" })).json()).toMatchObject({
      error: expect.stringContaining("texts: the field is missing"),
    });
  });

  it("POST /similarity, /embed_sparse and /embed_all give what our own routes give", async () => {
    const similar = await setUp(embed);
    const scores = (await similar.own("/v1/similarity", { source: "a", texts: two }))["scores"];
    expect(await similar.read("/similarity", { inputs: { source_sentence: "a", sentences: two } })).toEqual(scores);
    const withPrompt = await setUp(prompted);
    const inputs = { source_sentence: "a", sentences: two };
    const prefixed = { source_sentence: "query: a", sentences: two.map((text) => `query: ${text}`) };
    const parameters = { prompt_name: "query" };
    for (const path of ["/similarity", "/"]) {
      const expected = await withPrompt.read(path, { inputs: prefixed });
      expect(await withPrompt.read(path, { inputs, parameters })).toEqual(expected);
    }
    const weights = await setUp(sparse);
    const [entry] = (await weights.own("/v1/sparse", { inputs: "to be" }))["embeddings"] as [
      { indices: number[]; values: number[] },
    ];
    expect(await weights.read("/embed_sparse", { inputs: "to be" })).toEqual([
      entry.indices.map((index, i) => ({ index, value: entry.values[i] })),
    ]);
    const tokens = await setUp(tokenVectors);
    expect(await tokens.read("/embed_all", { inputs: two })).toEqual(
      (await tokens.own("/v1/token-vectors", { inputs: two }))["embeddings"],
    );
  });

  it("POST /rerank and /similarity score as TEI does, and our own routes as the model says", async () => {
    const [logits, sigmoids] = [await setUp(withLogits), await setUp(crossEncoder)];
    const body = { query: "a", texts: ["b", "c", "d"] };
    expect(await logits.read("/rerank", body)).toEqual(await sigmoids.read("/rerank", body));
    const { results } = (await logits.own("/v1/rerank", { query: "a", documents: body.texts })) as unknown as {
      results: { index: number; relevance_score: number }[];
    };
    const own = results.map(({ index, relevance_score: score }) => ({ index, score }));
    expect(own).toEqual(await logits.read("/rerank", { ...body, raw_scores: true }));
    expect(own).not.toEqual(await logits.read("/rerank", body));
    const [distances, cosines] = [await setUp(byDistance), await setUp(raw)];
    const compared = { inputs: { source_sentence: "a", sentences: two } };
    const expected = await cosines.read("/similarity", compared);
    expect(await distances.read("/similarity", compared)).toEqual(expected);
    expect(await distances.read("/", compared)).toEqual(expected);
    const { scores } = (await distances.own("/v1/similarity", { source: "a", texts: two })) as unknown as {
      scores: number[];
    };
    expect(scores.every((score) => score < 0)).toBe(true);
  });

  it("POST /embed_all says what a sentence encoder gives instead", async () => {
    const refused = await (await setUp(embed)).post("/embed_all", { inputs: two });
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 422,
      body: {
        error: expect.stringMatching(/not token-vectors\. Send a body .* to \/embed, or serve another model/),
        error_type: "Validation",
      },
    });
  });

  it("cuts texts at their left where a request asks for it, as our own route and Cohere's do", async () => {
    const { read, own } = await setUp(embed);
    const long = `${"to ".repeat(20)}${"be ".repeat(40)}`;
    const [end] = (await own("/v1/embed", { inputs: "be ".repeat(14) }))["embeddings"] as number[][];
    const [left] = (await own("/v1/embed", { inputs: long, truncate: "left" }))["embeddings"] as number[][];
    const [right] = (await own("/v1/embed", { inputs: long, truncate: "right" }))["embeddings"] as number[][];
    expect(left).toEqual(end);
    expect(right).not.toEqual(left);
    expect(await own("/v1/embed", { inputs: long, truncate: true })).toMatchObject({ embeddings: [right] });
    expect(await read("/embed", { inputs: long, truncation_direction: "Left" })).toEqual([left]);
    expect(await read("/embed", { inputs: long })).toEqual([right]);
    const cohere = {
      model: TINY.name,
      texts: [long],
      input_type: "clustering",
      embedding_types: ["float"],
      truncate: "START",
    };
    expect(await own("/v2/embed", cohere)).toMatchObject({ embeddings: { float: [left] } });
    const ids = [101, ...new Array(40).fill(2000), ...new Array(20).fill(2022), 102];
    expect(await own("/v1/embed", { inputs: ids, truncate: "left" })).toMatchObject({ embeddings: [left] });
  });

  it.each([
    [422, "Validation", { inputs: 1 }],
    [422, "Validation", { inputs: "a", truncation_direction: "Middle" }],
    [422, "Validation", { inputs: "a", dimensions: 9 }],
    [400, "Empty", { inputs: "" }],
    [400, "Empty", { inputs: [] }],
  ])("answers faults with %d and the type %s", async (status, type, body) => {
    const { post } = await setUp(embed);
    const response = await post("/embed", body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringMatching(/./), error_type: type });
  });

  it("POST /tokenize shows tokens with their places in code points, and POST /decode makes texts of them", async () => {
    const { read } = await setUp(embed);
    const [tokens = []] = (await read("/tokenize", { inputs: "🗼 working" })) as { id: number; text: string }[][];
    expect(tokens).toEqual([
      { id: 101, text: "[CLS]", special: true, start: null, stop: null },
      { id: 100, text: "🗼", special: false, start: 0, stop: 1 },
      { id: 2551, text: "working", special: false, start: 2, stop: 9 },
      { id: 102, text: "[SEP]", special: true, start: null, stop: null },
    ]);
    const bare = await read("/tokenize", { inputs: ["🗼 working", "a"], add_special_tokens: false });
    expect(bare).toEqual([tokens.slice(1, 3), [{ id: 1037, text: "a", special: false, start: 0, stop: 1 }]]);
    const ids = tokens.map(({ id }) => id);
    expect(await read("/decode", { ids })).toEqual(["working"]);
    expect(await read("/decode", { ids: [ids, [1037, 999_999]], skip_special_tokens: false })).toEqual([
      "[CLS] [UNK] working [SEP]",
      "a",
    ]);
    expect(await read(`/models/${TINY.name}/decode`, { ids: [] })).toEqual([""]);
    const refused = await (await setUp(embed)).post("/decode", { ids: [-1] });
    expect([refused.status, await refused.json()]).toMatchObject([422, { error_type: "Validation" }]);
  });

  it("POST /tokenize keeps unknown and special tokens of a text, also without a packed tokenizer", async () => {
    const unpacked = memoryStore();
    await publishTiny(unpacked, "tiny", { tokenizer: JSON_TOKENIZER });
    for (const models of [undefined, unpacked]) {
      const { read } = await setUp(embed, models);
      const tokens = async (more: object) => {
        const [found = []] = (await read("/tokenize", { inputs: "🗼 [MASK] a", ...more })) as { id: number }[][];
        return found.map((token) => [token.id, "special" in token && token.special]);
      };
      const text = [100, 103, 1037].map((id) => [id, false]);
      expect(await tokens({ add_special_tokens: false })).toEqual(text);
      expect(await tokens({})).toEqual([[101, true], ...text, [102, true]]);
    }
  });

  it("needs a key", async () => {
    const { post } = await setUp(embed);
    expect((await post("/embed", { inputs: "a" }, "other")).status).toBe(401);
  });
});

describe("Cohere", () => {
  it("POST /v2/embed gives every type of vectors, with the prompts of queries and documents", async () => {
    const { read, own } = await setUp(prompted);
    const types = ["float", "int8", "uint8", "binary", "ubinary", "base64"];
    const answer = await read("/v2/embed", {
      model: TINY.name,
      texts: two,
      input_type: "search_query",
      embedding_types: types,
    });
    const expected = await own("/v1/embed", { inputs: two, prompt_name: "query" });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/./),
      response_type: "embeddings_by_type",
      texts: two,
      embeddings: { float: expected["embeddings"] },
      meta: { api_version: { version: "2" }, billed_units: { input_tokens: expect.any(Number) } },
    });
    const { embeddings } = answer as { embeddings: Record<string, unknown[]> };
    expect(Object.keys(embeddings)).toEqual(types);
    for (const type of types.slice(1, 5)) {
      expect(embeddings[type]).toEqual(
        (await own("/v1/embed", { inputs: two, prompt_name: "query", output_type: type }))["embeddings"],
      );
    }
    const documents = await read("/v2/embed", { model: TINY.name, texts: two, input_type: "search_document" });
    expect(documents).toMatchObject({
      embeddings: { float: (await own("/v1/embed", { inputs: two, prompt_name: "passage" }))["embeddings"] },
    });
  });

  it("POST /v2/embed cuts long texts, and refuses them with NONE", async () => {
    const { post } = await setUp(embed);
    const body = { model: TINY.name, texts: ["word ".repeat(40)], input_type: "classification" };
    expect((await post("/v2/embed", body)).status).toBe(200);
    const refused = await post("/v2/embed", { ...body, truncate: "NONE" });
    expect({ status: refused.status, body: await refused.json() }).toEqual({
      status: 400,
      body: { message: expect.stringMatching(/tokens/) },
    });
  });

  it.each([
    [crossEncoder, "/v2/rerank"],
    [prompted, "/v2/rerank"],
    [crossEncoder, "/v1/rerank"],
  ])("max_tokens_per_doc cuts documents for %j at %s as by hand", async (task, path) => {
    const { own, post } = await setUp(task);
    const body = { model: TINY.name, query: "to be" };
    const documents = ["to be or not to be, that is", "working works or not", "be"];
    const cut = ["to be or", "working works or", "be"];
    const { results } = await own(path, { ...body, documents: cut, return_documents: false });
    const most = { max_tokens_per_doc: 3, return_documents: false };
    expect(await own(path, { ...body, documents, ...most })).toMatchObject({ results });
    const all = await own(path, { ...body, documents, return_documents: false });
    expect(await own(path, { ...body, documents, ...most, max_tokens_per_doc: 4096 })).toMatchObject({
      results: all["results"],
    });
    expect(all["results"]).not.toEqual(results);
    expect((await post(path, { ...body, documents, max_tokens_per_doc: 0 })).status).toBe(400);
  });

  it("POST /v2/rerank ranks as /v1/rerank does", async () => {
    const { read, own } = await setUp(crossEncoder);
    const body = { model: TINY.name, query: "a", documents: ["b", "c", "d"], top_n: 2 };
    const { results } = await own("/v1/rerank", { ...body, return_documents: false });
    expect(await read("/v2/rerank", body)).toMatchObject({ id: expect.stringMatching(/./), results });
  });

  it("POST /v2/rerank gives scores between 0 and 1, whatever the model says", async () => {
    const [logits, sigmoids] = [await setUp(withLogits), await setUp(crossEncoder)];
    const body = { model: TINY.name, query: "a", documents: ["b", "c", "d"] };
    const { results } = await sigmoids.own("/v1/rerank", { ...body, return_documents: false });
    expect(await logits.read("/v2/rerank", body)).toMatchObject({ results });
    expect(await logits.own("/v1/rerank", { ...body, return_documents: false })).not.toMatchObject({ results });
  });

  it("answers unknown paths in its own format", async () => {
    const { post } = await setUp(embed);
    const response = await post("/v2/chat", {});
    expect({ status: response.status, body: await response.json() }).toEqual({
      status: 404,
      body: { message: expect.stringMatching(/route/) },
    });
  });
});

describe("vLLM", () => {
  it.each(["/score", "/v1/score"])("POST %s gives the scores of /v1/similarity, in vLLM's form", async (path) => {
    const { read, own } = await setUp(withLogits);
    const { scores } = (await own("/v1/similarity", { source: "a", texts: two })) as { scores: number[] };
    const data = scores.map((score, index) => ({ object: "score", index, score }));
    const body = { text_1: "a", text_2: two };
    expect(await read(path, body)).toEqual({
      ...{ object: "list", model: TINY.name, data },
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    const one = { ...body, text_2: two[0], model: null, use_activation: true };
    expect(await read(path, one)).toMatchObject({ data: data.slice(0, 1) });
    const sigmoids = await setUp(crossEncoder);
    expect(await sigmoids.read(path, { ...body, use_activation: false })).toMatchObject({ data });
  });

  it("POST /score refuses what it does not compute", async () => {
    const { post } = await setUp(crossEncoder);
    const refusal = async (body: object) => {
      const response = await post("/score", { text_1: "a", text_2: two, ...body });
      return { status: response.status, ...((await response.json()) as { error: { message: string } }).error };
    };
    expect(await refusal({ text_1: two })).toMatchObject({ status: 400, message: expect.stringContaining("for each") });
    expect(await refusal({ truncate_prompt_tokens: 5 })).toMatchObject({ message: expect.stringContaining("-1") });
    const long = { text_2: "word ".repeat(40) };
    expect(await refusal(long)).toMatchObject({ code: "input_too_long" });
    expect((await refusal({ ...long, truncate_prompt_tokens: -1 })).status).toBe(200);
  });
});

describe("OpenAI's clients, and those of Jina and Voyage", () => {
  const vector = async (task: Task, fields: object) => {
    const answer = (await (
      await setUp(task)
    ).own("/v1/embeddings", {
      model: TINY.name,
      input: "to be",
      ...fields,
    })) as { data?: { embedding: unknown }[] };
    return answer.data?.[0]?.embedding;
  };
  const ownVector = async (task: Task, fields: object) =>
    ((await (await setUp(task)).own("/v1/embed", { inputs: "to be", ...fields }))["embeddings"] as unknown[])[0];

  it.each([
    [{ prompt_name: "query" }, "query"],
    [{ task: "retrieval.query" }, "query"],
    [{ input_type: "search_query" }, "query"],
    [{ input_type: "query" }, "query"],
    [{ task: "retrieval.passage" }, "passage"],
    [{ input_type: "document" }, "passage"],
  ])("%j puts the prompt %s before texts", async (fields, prompt_name) => {
    const expected = await ownVector(prompted, { prompt_name });
    expect(await vector(prompted, fields)).toEqual(expected);
    expect(await vector(prompted, {})).not.toEqual(expected);
  });

  it("embedding_type and normalized are obeyed", async () => {
    for (const type of ["binary", "ubinary"]) {
      expect(await vector(embed, { embedding_type: type })).toEqual(await ownVector(embed, { output_type: type }));
    }
    expect(await vector(embed, { embedding_type: "base64" })).toEqual(
      await ownVector(embed, { encoding_format: "base64" }),
    );
    expect(await vector(raw, { normalized: true })).toEqual(await ownVector(raw, { normalize: true }));
    expect(await vector(raw, { normalized: true })).not.toEqual(await vector(raw, {}));
  });
});

describe("fields that cannot be obeyed", () => {
  it.each([
    [embed, "/v1/embed", { texts: ["a"], model: TINY.name }, "/v2/embed"],
    [embed, "/", { texts: ["a"], input_type: "search_document" }, "/v2/embed"],
    [embed, "/v1/embed", { inputs: "a", input_type: "query" }, "prompt_name"],
    [embed, "/v1/embed", { inputs: "a", truncation_direction: "left" }, "truncate"],
    [embed, "/v1/embeddings", { input: "a", model: TINY.name, late_chunking: true }, "Leave it out"],
    [embed, "/v1/embeddings", { input: "a", model: TINY.name, task: "classification" }, "retrieval.query"],
    [embed, "/v1/embeddings", { input: "a", model: TINY.name, output_dimension: 2 }, "dimensions"],
    [embed, "/v2/embed", { inputs: [{}], model: TINY.name }, "texts"],
    [crossEncoder, "/v1/rerank", { query: "a", documents: ["b"], max_doc_length: 3 }, "max_tokens_per_doc"],
    [tags, "/", { inputs: "a", parameters: { stride: 3 } }, "in parts"],
    [answers, "/", { inputs: { question: "a", context: "b" }, parameters: { max_question_len: 9 } }, "Shorten"],
    [answers, "/", { inputs: { question: "a", context: "b" }, parameters: { max_seq_len: 99 } }, "at most 16"],
  ])("of %j at %s in %j are refused with what to do", async (task, path, body, advice) => {
    const response = await (await setUp(task)).post(path, body);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(advice)]);
  });

  it("are taken with values that mean what is done anyway", async () => {
    const { read } = await setUp(embed);
    const body = { input: "a", model: TINY.name };
    expect(await read("/v1/embeddings", { ...body, late_chunking: false, output_dtype: "float" })).toEqual(
      await read("/v1/embeddings", body),
    );
  });
});

describe("Hugging Face's inference API", () => {
  const root = async (task: Task, body: object) => (await setUp(task)).read("/", body);
  const ownOf = async (task: Task, path: string, body: object, field = "results") =>
    (await (await setUp(task)).own(path, body))[field] as unknown[];
  const label = { label: expect.any(String), score: expect.any(Number) };

  it("embeds a text to a vector, and a list to a list", async () => {
    const vectors = await ownOf(embed, "/v1/embed", { inputs: two }, "embeddings");
    expect(await root(embed, { inputs: two })).toEqual(vectors);
    expect(await root(embed, { inputs: two[0] })).toEqual(vectors[0]);
    expect(await root(prompted, { inputs: "a", prompt_name: "query" })).toEqual(
      await root(prompted, { inputs: "query: a" }),
    );
    const short = await ownOf(embed, "/v1/embed", { inputs: two, dimensions: 2 }, "embeddings");
    expect(await root(embed, { inputs: two, dimensions: 2 })).toEqual(short);
    expect(await root(embed, { inputs: two, parameters: { dimensions: 2 } })).toEqual(short);
  });

  it.each(["inputs", "parameters"])("cuts and normalizes as fields beside or in the %s say", async (place) => {
    const body = (fields: object) => (place === "parameters" ? { parameters: fields } : fields);
    const inputs = `${"to ".repeat(20)}${"be ".repeat(40)}`;
    for (const [truncation_direction, truncate] of [
      ["Left", "left"],
      ["left", "left"],
      ["right", "right"],
    ]) {
      const [expected] = await ownOf(embed, "/v1/embed", { inputs, truncate }, "embeddings");
      expect(await root(embed, { inputs, ...body({ truncation_direction }) })).toEqual(expected);
    }
    const { post } = await setUp(embed);
    expect((await post("/", { inputs: "a", ...body({ normalize: false }) })).status).toBe(400);
    const long = Math.hypot(...((await root(raw, { inputs: "a", ...body({ normalize: false }) })) as number[]));
    expect(Math.abs(long - 1)).toBeGreaterThan(0.01);
  });

  it("compares sentences", async () => {
    const scores = await ownOf(embed, "/v1/similarity", { source: "a", texts: two }, "scores");
    expect(await root(embed, { inputs: { source_sentence: "a", sentences: two } })).toEqual(scores);
  });

  it("classifies texts and pairs, each with a list of labels", async () => {
    expect(await root(classify, { inputs: "a" })).toEqual([[label, label]]);
    expect(await root(classify, { inputs: two, parameters: { top_k: 1 } })).toEqual([[label], [label]]);
    expect(await root(inference, { inputs: { text: "a", text_pair: "b" } })).toEqual(
      await ownOf(inference, "/v1/classify", { inputs: { text: "a", text_pair: "b" } }),
    );
  });

  it("labels texts by candidate labels, also as one string", async () => {
    const [scores] = await ownOf(inference, "/v1/zero-shot", { inputs: "a", candidate_labels: ["x", "y"] });
    expect(await root(inference, { inputs: "a", parameters: { candidate_labels: ["x", "y"] } })).toEqual(scores);
    expect(await root(inference, { inputs: "a", parameters: { candidate_labels: "x, y" } })).toEqual(scores);
    expect(await root(embed, { inputs: two, parameters: { candidate_labels: ["x", "y"] } })).toEqual([
      [label, label],
      [label, label],
    ]);
  });

  it("finds entities in the form of transformers' pipeline", async () => {
    const entities = (await ownOf(tags, "/v1/tag", { inputs: "Anna works" }))[0] as { label: string; text: string }[];
    const expected = entities.map(({ label: entity_group, text: word, ...rest }) => ({ entity_group, word, ...rest }));
    expect(await root(tags, { inputs: "Anna works" })).toEqual(expected);
    expect(await root(tags, { inputs: ["Anna works"] })).toEqual([expected]);
    const tokens = (await root(tags, {
      inputs: "Anna works",
      parameters: { aggregation_strategy: "none", ignore_labels: [] },
    })) as object[];
    expect(tokens).toHaveLength(2);
    for (const token of tokens) expect(token).toHaveProperty("entity");
  });

  it("answers a question with an object, or a list with top_k", async () => {
    const inputs = { question: "Who?", context: "Anna works in New York." };
    const [found] = await ownOf(answers, "/v1/answer", { ...inputs, top_k: 2, doc_stride: 2 });
    const first = (found as unknown[])[0];
    expect(await root(answers, { inputs, parameters: { doc_stride: 2 } })).toEqual(first);
    const short = { doc_stride: 2, max_seq_len: 8 };
    expect(await root(answers, { inputs, parameters: short })).not.toEqual(first);
    expect(await root(answers, { inputs, parameters: { ...short, max_seq_len: 16 } })).toEqual(first);
    expect(await root(answers, { inputs, parameters: { doc_stride: 2, top_k: 2 } })).toEqual(found);
  });

  it("fills masks in the form of transformers' pipeline", async () => {
    const [[one]] = (await ownOf(masked, "/v1/fill-mask", { inputs: "to [MASK]", top_k: 2 })) as [
      [{ token: string; token_id: number }[]],
    ];
    const expected = one.map(({ token: token_str, token_id: token, ...rest }) => ({ ...rest, token, token_str }));
    const parameters = { top_k: 2 };
    expect(await root(masked, { inputs: "to [MASK]", parameters })).toEqual(expected);
    expect(await root(masked, { inputs: ["to [MASK]"], parameters })).toEqual([expected]);
    expect(await root(masked, { inputs: "[MASK] or [MASK]", parameters })).toHaveLength(2);
    const [target] = (await root(masked, { inputs: "to [MASK]", parameters: { targets: "be" } })) as object[];
    expect(target).toMatchObject({ token: 2022, token_str: "be", sequence: "to be" });
  });

  it("answers under a model's path too, and describes faults in its own format", async () => {
    const { read, post } = await setUp(embed);
    expect(await read(`/models/${TINY.name}`, { inputs: "a" })).toEqual(await read("/", { inputs: "a" }));
    expect((await post("/", { inputs: "a", parameters: [] })).status).toBe(400);
    for (const inputs of [1, { question: "a" }, { question: "a", context: "b" }, ""]) {
      const response = await post("/", { inputs });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ error: expect.stringMatching(/./) });
    }
    expect((await post("/", { inputs: "a" }, "other")).status).toBe(401);
  });
});

describe("paths that name a model", () => {
  it("choose it for every dialect", async () => {
    const { read, post } = await setUp(embed);
    const plain = await read("/embed", { inputs: "to be" });
    expect(await read(`/models/${TINY.name}/embed`, { inputs: "to be" })).toEqual(plain);
    const unknown = await post("/models/other/embed", { inputs: "to be" });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toEqual({ error: expect.stringContaining("other"), error_type: "Validation" });
    expect((await post(`/models/${TINY.name}/v1/embed`, { inputs: "a" }, "other")).status).toBe(401);
  });

  it("can pin a version", async () => {
    const { own, post } = await setUp(embed);
    const { version } = await own("/v1/embed", { inputs: "a" });
    expect(await own(`/models/${TINY.name}@${version}/v1/embed`, { inputs: "a" })).toMatchObject({ version });
    expect(await own("/v1/embed", { inputs: "a", model: `${TINY.name}@${version}` })).toMatchObject({ version });
    expect((await post(`/models/${TINY.name}@000000000000/v1/embed`, { inputs: "a" })).status).toBe(404);
  });
});
