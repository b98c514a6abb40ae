// Runs in a folder that has the packages from the npm registry: calls several routes with the AI SDK, LangChain and LlamaIndex.
import { createCohere } from "@ai-sdk/cohere";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { CohereEmbeddings, CohereRerank } from "@langchain/cohere";
import { HuggingFaceInferenceEmbeddings } from "@langchain/community/embeddings/hf";
import { Document } from "@langchain/core/documents";
import { OpenAIEmbeddings } from "@langchain/openai";
import { OpenAIEmbedding } from "@llamaindex/openai";
import { embed, embedMany, rerank } from "ai";
import { CohereClient, CohereClientV2 } from "cohere-ai";
import { Document as Page, SentenceSplitter, Settings, VectorStoreIndex } from "llamaindex";
import {
  assertRefused,
  assertSame,
  cuttingKey,
  key,
  LONG,
  MAX_TOKENS,
  model,
  own,
  texts,
  url,
  vectorsOf,
} from "./check.js";

const vectors = await vectorsOf(texts);
const shorter = await vectorsOf(texts, { dimensions: 8 });
const cut = await vectorsOf([LONG], { truncate: true });
const fromLeft = await vectorsOf([LONG], { truncate: "left" });
const tooLong = /Shorten the text, or set `truncate` to true .* give the API key the option `truncate`/;
const { results } = await own("/v1/rerank", { query: texts[0], documents: texts, top_n: 2 });
const ranking = results.map((each) => [each.index, each.relevance_score]);

// The AI SDK.
const openAi = (apiKey = key) => createOpenAI({ baseURL: `${url}/v1`, apiKey });
const compatible = (apiKey = key) => createOpenAICompatible({ name: "bert", baseURL: `${url}/v1`, apiKey });
for (const [name, provider, options] of [
  ["@ai-sdk/openai", openAi, "openai"],
  ["@ai-sdk/openai-compatible", compatible, "bert"],
]) {
  const asked = { model: provider().embeddingModel(model), values: texts, maxRetries: 0 };
  const { embeddings, usage } = await embedMany(asked);
  assertSame(`${name} embedMany`, embeddings, vectors);
  const { usage: counted } = await own("/v1/embed", { inputs: texts });
  assertSame(`${name} usage`, usage.tokens, counted.tokens);
  assertSame(`${name} embed`, (await embed({ ...asked, value: texts[0] })).embedding, vectors[0]);
  const small = { ...asked, providerOptions: { [options]: { dimensions: 8, user: "me" } } };
  assertSame(`${name} dimensions`, (await embedMany(small)).embeddings, shorter);
  await assertRefused(`${name}, a long text`, () => embedMany({ ...asked, values: [LONG] }), tooLong);
  const cutting = await embedMany({ model: provider(cuttingKey).embeddingModel(model), values: [LONG] });
  assertSame(`${name}, a long text cut by the key`, cutting.embeddings, cut);
  assertSame(`${name}, usage of a long text`, cutting.usage.tokens, MAX_TOKENS);
}
const cohere = createCohere({ baseURL: `${url}/v2`, apiKey: key });
const byCohere = (options, values = texts) =>
  embedMany({ model: cohere.embeddingModel(model), values, maxRetries: 0, providerOptions: { cohere: options } });
assertSame("@ai-sdk/cohere embedMany", (await byCohere({})).embeddings, vectors);
for (const [truncate, expected, other] of [
  ["END", cut, fromLeft],
  ["START", fromLeft, cut],
]) {
  assertSame(`@ai-sdk/cohere ${truncate}`, (await byCohere({ truncate }, [LONG])).embeddings, expected, other);
}
await assertRefused("@ai-sdk/cohere NONE", () => byCohere({ truncate: "NONE" }, [LONG]), /set `truncate` to "END"/);
const ranked = await rerank({ model: cohere.rerankingModel(model), query: texts[0], documents: texts, topN: 2 });
assertSame(
  "@ai-sdk/cohere rerank",
  ranked.ranking.map((each) => [each.originalIndex, each.score]),
  ranking,
);

// LangChain.
const langChain = (options) =>
  new OpenAIEmbeddings({ model, apiKey: key, maxRetries: 0, configuration: { baseURL: `${url}/v1` }, ...options });
for (const [options, expected] of [
  [{}, vectors],
  [{ dimensions: 8 }, shorter],
  [{ encodingFormat: "float" }, vectors],
  [{ batchSize: 1 }, vectors],
]) {
  const found = await langChain(options).embedDocuments(texts);
  assertSame(`LangChain OpenAIEmbeddings ${JSON.stringify(options)}`, found, expected);
}
assertSame("LangChain OpenAIEmbeddings embedQuery", await langChain().embedQuery(texts[0]), vectors[0]);
await assertRefused("LangChain OpenAIEmbeddings, a long text", () => langChain().embedDocuments([LONG]), tooLong);
const langChainCut = await langChain({ apiKey: cuttingKey }).embedDocuments([LONG]);
assertSame("LangChain OpenAIEmbeddings, a long text cut by the key", langChainCut, cut);
const hub = new HuggingFaceInferenceEmbeddings({ apiKey: key, endpointUrl: url, model, maxRetries: 0 });
assertSame("LangChain HuggingFaceInferenceEmbeddings", await hub.embedDocuments(texts), vectors);
assertSame("LangChain HuggingFaceInferenceEmbeddings embedQuery", await hub.embedQuery(texts[0]), vectors[0]);
assertSame("LangChain HuggingFaceInferenceEmbeddings, a long text", await hub.embedDocuments([LONG]), cut);
const second = new CohereClientV2({ token: key, environment: url });
const first = new CohereClient({ token: key, environment: url });
const cohereEmbeddings = (client) => new CohereEmbeddings({ model, client, maxRetries: 0 });
assertSame("LangChain CohereEmbeddings, v2", await cohereEmbeddings(second).embedDocuments(texts), vectors);
assertSame(
  "LangChain CohereEmbeddings, v2, embedQuery",
  await cohereEmbeddings(second).embedQuery(texts[0]),
  vectors[0],
);
const old = () => cohereEmbeddings(first).embedDocuments(texts);
await assertRefused("LangChain CohereEmbeddings, v1", old, /\/v2\/embed/);
for (const [version, client] of [
  ["v1", first],
  ["v2", second],
]) {
  const reranker = new CohereRerank({ model, client, topN: 2 });
  const found = await reranker.rerank(texts, texts[0]);
  assertSame(
    `LangChain CohereRerank, ${version}`,
    found.map((each) => [each.index, each.relevanceScore]),
    ranking,
  );
  const documents = texts.map((pageContent) => new Document({ pageContent }));
  const [best] = await reranker.compressDocuments(documents, texts[0]);
  assertSame(`LangChain CohereRerank compressDocuments, ${version}`, best.pageContent, texts[ranking[0][0]]);
}

// LlamaIndex: its chunks have 1,024 tokens by default, more than the model reads.
const pages = [new Page({ text: `${LONG}The king is in Paris. ${LONG}` })];
async function search(apiKey, splitter) {
  Settings.embedModel = new OpenAIEmbedding({ model, apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
  const nodes = splitter?.getNodesFromDocuments(pages);
  const index = nodes ? await VectorStoreIndex.init({ nodes }) : await VectorStoreIndex.fromDocuments(pages);
  const [{ node }] = await index.asRetriever({ similarityTopK: 1 }).retrieve("The king is in Paris.");
  return node.getContent();
}
assertSame("LlamaIndex, tokens of a chunk", Settings.chunkSize, 1024);
await assertRefused("LlamaIndex, chunks of 1,024 tokens", () => search(key), tooLong);
const whole = await search(cuttingKey);
assertSame("LlamaIndex, chunks of 1,024 tokens cut by the key", whole.length > 2_000, true);
const fitting = await search(key, new SentenceSplitter({ chunkSize: 32, chunkOverlap: 4 }));
assertSame("LlamaIndex, chunks that fit", fitting.length < 300, true);
const small = new OpenAIEmbedding({ model, apiKey: key, baseURL: `${url}/v1`, dimensions: 8 });
assertSame("LlamaIndex OpenAIEmbedding dimensions", await small.getTextEmbeddings(texts), shorter);
