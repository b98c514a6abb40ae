import { describe, expect, expectTypeOf, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { type FakeEngine, TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../artifact/manifest.ts";
import { createEdgeApp } from "../serve/edge-app.ts";
import { BertEdge, ConnectionError, InvalidRequestError, type TaskOptions, type TaskResult } from "./index.ts";

errorLog();

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const classify: Task = { task: "classify", input: "text", labels: ["no", "yes"] };
const inference: Task = { task: "classify", input: "pair", labels: ["contradiction", "entailment"] };
const tags: Task = { task: "tag", labels: ["O", "PER"] };
const answers: Task = { task: "answer" };
const masked: Task = { task: "fill-mask", mask: { id: 103, token: "[MASK]" } };
const sparse: Task = { task: "sparse" };
const tokenVectors: Task = { task: "token-vectors", dimensions: 4 };

interface ClientSettings {
  readonly maxInputs: number;
  readonly batchSize: number;
  readonly engine: FakeEngine;
}

/** Makes a client of an app in this process that serves a model for the task. Records the requests. */
async function clientOf(
  task: Task,
  { maxInputs = 2_048, batchSize = 128, engine = taskEngine(task) }: Partial<ClientSettings> = {},
) {
  const app = createEdgeApp({
    ...{ models: await taskStore(task), model: TINY.name, keys: ["k"], engine },
    limits: { maxInputs },
  });
  const sent: { path: string; body: unknown; headers: Headers }[] = [];
  const client = new BertEdge({
    baseURL: "https://edge.test",
    apiKey: "k",
    maxRetries: 0,
    batchSize,
    fetch: (async (url: URL, init: RequestInit) => {
      sent.push({ path: url.pathname, body: JSON.parse(init.body as string), headers: new Headers(init.headers) });
      return app.request(url.href, init, {});
    }) as unknown as typeof fetch,
  });
  return { client, sent };
}

/** A score between 0 and 1. */
const SCORE = expect.any(Number);

describe("the methods of tasks", () => {
  it("classify texts and pairs, with the names of JavaScript", async () => {
    const { client, sent } = await clientOf(classify);
    const { results, tier, reason, tokens, model } = await client.classify(["to be", "or not"], { topK: 1 });
    expect(results).toEqual([[{ label: expect.any(String), score: SCORE }], [expect.anything()]]);
    expect({ tier, reason, tokens, model }).toMatchObject({ tier: "edge", reason: "only-tier", model: TINY.name });
    expect(sent[0]).toMatchObject({ path: "/v1/classify", body: { inputs: ["to be", "or not"], top_k: 1 } });
    const pairs = await clientOf(inference);
    const answer = await pairs.client.classify({ text: "to be", textPair: "or not" }, { functionToApply: "sigmoid" });
    expect(answer.results).toHaveLength(1);
    expect(pairs.sent[0]?.body).toEqual({
      inputs: [{ text: "to be", text_pair: "or not" }],
      function_to_apply: "sigmoid",
    });
  });

  it("choose among labels", async () => {
    const { client } = await clientOf(inference);
    const { results } = await client.zeroShot("to be", ["travel", "food"], { multiLabel: true });
    expect(results[0]?.map(({ label }) => label).sort()).toEqual(["food", "travel"]);
  });

  it("find parts of texts, with places that slice takes", async () => {
    const text = "🗼🗼 Anna works in 東京, ok 👩‍💻?";
    const { client } = await clientOf(tags);
    const { results } = await client.tag(text, { aggregationStrategy: "none", ignoreLabels: [] });
    const entities = results[0] ?? [];
    expect(entities.length).toBeGreaterThan(5);
    for (const { start, end, text: part } of entities) expect(text.slice(start, end)).toBe(part);
    const asked = await clientOf(answers);
    const found = await asked.client.answer({ question: "Who?", context: text }, { topK: 3, docStride: 2 });
    expect(found.results[0]).toHaveLength(3);
    for (const { start, end, answer } of found.results[0] ?? []) expect(text.slice(start, end)).toBe(answer);
  });

  it("fill masks", async () => {
    const { client } = await clientOf(masked);
    const { results } = await client.fillMask("to [MASK]", { targets: ["be"] });
    expect(results).toEqual([[[{ token: "be", tokenId: 2022, score: SCORE, sequence: "to be" }]]]);
  });

  it("compare and rank", async () => {
    const { client } = await clientOf(embed);
    const { scores } = await client.similarity("to be", ["to be", "or not"]);
    expect(scores).toEqual([expect.closeTo(1, 6), SCORE]);
    const { results } = await client.rerank("or not", ["a", "or not"], { topN: 1, returnDocuments: false });
    expect(results).toEqual([{ index: 1, relevanceScore: expect.closeTo(1, 6) }]);
  });

  it("give sparse vectors and the vectors of tokens", async () => {
    const { embeddings } = await (await clientOf(sparse)).client.sparse("to be");
    expect(embeddings[0]?.indices.length).toBe(embeddings[0]?.values.length);
    const { client, sent } = await clientOf(tokenVectors);
    const vectors = await client.tokenVectors(["to be", "a"], { truncate: true });
    expect(vectors.embeddings.map(({ length }) => length)).toEqual([16, 12]);
    expect(vectors.dimensions).toBe(4);
    expect(sent[0]?.body).toEqual({ inputs: ["to be", "a"], encoding_format: "base64", truncate: true });
  });

  it("send the model, the budget and the tier of a call", async () => {
    const { client, sent } = await clientOf(classify);
    await client.classify("a", { model: TINY.name, latencyBudgetMs: 5_000, tier: "edge" });
    expect(sent[0]?.body).toEqual({ inputs: ["a"], model: TINY.name });
    expect(sent[0]?.headers.get("x-latency-budget-ms")).toBe("5000");
    expect(sent[0]?.headers.get("x-bert-edge-tier")).toBe("edge");
    const embedding = await clientOf(embed);
    const { embeddings } = await embedding.client.embed("a", { model: TINY.name, tier: "edge", dimensions: 4 });
    expect(embeddings[0]).toHaveLength(4);
    expect(embedding.sent[0]?.body).toMatchObject({ model: TINY.name, dimensions: 4 });
  });

  it("fail with the service's errors, which name the text", async () => {
    const { client } = await clientOf(classify);
    const error = await client.classify(["a", ""]).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ code: "input_empty", index: 1, message: "Input 1 is empty." });
    await expect(client.tag("a")).rejects.toMatchObject({ code: "task_unsupported" });
    await expect(client.classify("a", { signal: AbortSignal.abort("gone") })).rejects.toBe("gone");
  });

  it("split lists into requests, and halve those that the deployment refuses", async () => {
    const texts = ["to be", "or", "not to be", "a", "to", "not"];
    const single = await Promise.all(
      texts.map(async (text) => (await (await clientOf(classify)).client.classify(text)).results[0]),
    );
    const { client, sent } = await clientOf(classify, { maxInputs: 2, batchSize: 4 });
    const { results, tokens, requests, tier } = await client.classify(texts);
    expect(results).toEqual(single);
    // Four texts are refused and halved.
    expect(sent.map(({ body }) => (body as { inputs: string[] }).inputs.length).sort()).toEqual([2, 2, 2, 4]);
    expect(requests.map((each) => each.texts)).toEqual([2, 2, 2]);
    expect(tokens).toBe(requests.reduce((sum, each) => sum + each.tokens, 0));
    expect(tier).toBe("edge");
    await expect(client.classify([...texts, ""])).rejects.toMatchObject({ index: 6, message: "Input 6 is empty." });
  });

  it("keep the order of documents whose scores are all 1", async () => {
    const task: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
    // The logit is 39 and a tenth of the number of tokens.
    const run = async (batch: readonly ArrayLike<number>[]) =>
      batch.map((sequence) => Float32Array.of(39 + sequence.length / 10));
    const { client } = await clientOf(task, { engine: taskEngine(task, { run }), batchSize: 3 });
    const documents = ["a", "a b c", "a b", "a", "a b c d", "a b"];
    const { results } = await client.rerank("to be", documents, { returnDocuments: false });
    // Requests have three documents each. Between requests, only the score decides.
    expect(results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual(
      [1, 2, 0, 4, 5, 3].map((index) => [index, 1]),
    );
  });

  it("rank the documents of several requests together", async () => {
    const documents = ["a", "or not", "to be", "not", "to be or not"];
    const whole = await (await clientOf(embed)).client.rerank("or not", documents);
    expect(whole.results.map(({ index }) => index)).toHaveLength(5);
    const { client, sent } = await clientOf(embed, { batchSize: 2 });
    const { results } = await client.rerank("or not", documents, { topN: 2 });
    expect(sent).toHaveLength(3);
    expect(results.map(({ index, document }) => [index, document])).toEqual(
      whole.results.slice(0, 2).map(({ index, document }) => [index, document]),
    );
    const { scores } = await client.similarity("or not", documents);
    expect(scores).toHaveLength(5);
    expect(scores[1]).toBeCloseTo(1, 6);
  });

  it("places parts in the text of each request, and vectors in the order of the texts", async () => {
    const texts = ["🗼 Anna", "ok", "in 東京"];
    const { client } = await clientOf(tags, { batchSize: 1 });
    const { results } = await client.tag(texts, { aggregationStrategy: "none", ignoreLabels: [] });
    results.forEach((entities, i) => {
      for (const { start, end, text } of entities) expect(texts[i]?.slice(start, end)).toBe(text);
    });
    const vectors = (await clientOf(tokenVectors, { batchSize: 1 })).client.tokenVectors(["to be", "a"]);
    expect((await vectors).embeddings.map(({ length }) => length)).toEqual([16, 12]);
  });

  it("send the side of a search", async () => {
    const protocol = {
      query: { length: 12, expansion: { token: 103, isAttended: true } },
      document: { length: 16, skipped: [] },
    };
    const { client, sent } = await clientOf({ ...tokenVectors, protocol } as Task);
    const { embeddings } = await client.tokenVectors("to be", { side: "query" });
    expect(embeddings.map(({ length }) => length)).toEqual([12 * 4]);
    expect(sent[0]?.body).toMatchObject({ inputs: ["to be"], side: "query" });
    expect((await client.tokenVectors("to be", { side: "document" })).embeddings[0]).toHaveLength(16);
  });

  it("refuse answers that are not from bert-edge", async () => {
    for (const body of ["{}", '{"usage": {"tokens": 1}}', "<html>"]) {
      const fetch = (async () => new Response(body)) as unknown as typeof globalThis.fetch;
      const client = new BertEdge({ baseURL: "https://edge.test", apiKey: "k", maxRetries: 0, fetch });
      await expect(client.tag("a")).rejects.toBeInstanceOf(ConnectionError);
    }
  });

  it("have the types of the HTTP interface", () => {
    expectTypeOf<TaskResult<"classify">["results"]>().toEqualTypeOf<
      { readonly label: string; readonly score: number }[][]
    >();
    expectTypeOf<TaskOptions<"rerank">["topN"]>().toEqualTypeOf<number | undefined>();
    // @ts-expect-error options have the names of JavaScript
    expectTypeOf<TaskOptions<"rerank">["top_n"]>().toBeNever();
  });
});
