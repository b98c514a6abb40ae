import type { EmbeddingModelV3, RerankingModelV3 } from "@ai-sdk/provider";
import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../../serve/edge-app.ts";
import { BertEdge } from "../bert-edge.ts";
import { type AiEmbeddingModel, type AiRerankingModel, bertEdge, createBertEdge } from "./ai-sdk.ts";
import { LangChainEmbeddings } from "./langchain.ts";

const encoder: Task = {
  ...{ task: "embed", pooling: "mean", normalize: true, dimensions: 8 },
  prompts: { query: "query: ", passage: "passage: " },
};

/** Returns the options of clients of an app in this process. */
async function options() {
  const app = createEdgeApp({
    models: await taskStore(encoder),
    model: TINY.name,
    keys: ["k"],
    engine: taskEngine(encoder),
  });
  return {
    ...{ baseURL: "https://edge.test", apiKey: "k", maxRetries: 0, batchSize: 2 },
    fetch: ((url: URL, init: RequestInit) => app.request(url.href, init, {})) as unknown as typeof fetch,
  };
}

const texts = ["to be", "or not", "to be again"];

describe("createBertEdge", () => {
  it("has the types of the AI SDK", () => {
    expectTypeOf<AiEmbeddingModel>().toExtend<EmbeddingModelV3>();
    expectTypeOf<AiRerankingModel>().toExtend<RerankingModelV3>();
  });

  it("embeds texts, in the order of the texts", async () => {
    const given = await options();
    const { embeddings, tokens } = await new BertEdge(given).embed(texts, { dimensions: 4 });
    const model = createBertEdge(given).embeddingModel(TINY.name, { dimensions: 4 });
    expect(await model.doEmbed({ values: texts })).toEqual({
      embeddings: embeddings.map((vector) => [...vector]),
      usage: { tokens },
      warnings: [],
    });
    await expect(model.doEmbed({ values: texts, abortSignal: AbortSignal.abort("gone") })).rejects.toBe("gone");
    await expect(
      createBertEdge(given)
        .embeddingModel("other")
        .doEmbed({ values: ["a"] }),
    ).rejects.toMatchObject({
      code: "model_unknown",
    });
  });

  it("says what the default provider needs, when it is first used", async () => {
    vi.stubEnv("BERT_EDGE_URL", "");
    const embedded = bertEdge.embeddingModel(TINY.name).doEmbed({ values: ["a"] });
    await expect(embedded).rejects.toThrow("Give it to createBertEdge(), or set BERT_EDGE_URL.");
    vi.unstubAllEnvs();
  });

  it("ranks texts and objects", async () => {
    const model = createBertEdge(await options()).rerankingModel(TINY.name);
    const { ranking } = await model.doRerank({ query: "or not", documents: { type: "text", values: texts }, topN: 2 });
    expect(ranking).toEqual([
      { index: 1, relevanceScore: expect.any(Number) },
      { index: expect.any(Number), relevanceScore: expect.any(Number) },
    ]);
    const objects = await model.doRerank({ query: "a", documents: { type: "object", values: [{ id: 1 }, { id: 2 }] } });
    expect(objects.ranking).toHaveLength(2);
  });
});

describe("LangChainEmbeddings", () => {
  it("embeds documents and queries, each with its prompt", async () => {
    const given = await options();
    const langChain = new LangChainEmbeddings({ ...given, queryPrompt: "query", documentPrompt: "passage" });
    const bert = new BertEdge(given);
    const plain = async (list: string[], promptName: string) =>
      (await bert.embed(list, { promptName })).embeddings.map((vector) => [...vector]);
    expect(await langChain.embedDocuments(texts)).toEqual(await plain(texts, "passage"));
    expect([await langChain.embedQuery("to be")]).toEqual(await plain(["to be"], "query"));
    expect(await plain(["to be"], "query")).not.toEqual(await plain(["to be"], "passage"));
    expect(await langChain.embedDocuments([])).toEqual([]);
  });
});
