// Runs in a folder that has the packages from the npm registry: embeds texts with each client and its default settings.
import { createOpenAI } from "@ai-sdk/openai";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { OpenAIEmbeddings } from "@langchain/openai";
import { OpenAIEmbedding } from "@llamaindex/openai";
import { embedMany, rerank } from "ai";
import OpenAI from "openai";

const [baseURL, apiKey, model, adapters] = process.argv.slice(2);
const { createBertEdge } = await import(new URL("ai-sdk.js", adapters));
const { LangChainEmbeddings } = await import(new URL("langchain.js", adapters));
const bert = createBertEdge({ baseURL, apiKey });
const texts = (count) => Array.from({ length: count }, (_, i) => `The mill number ${i} stands at the brook.`);

/** Name, number of texts, and the client's own call. */
const clients = [
  [
    "openai",
    2_048,
    async (input) => {
      const { data } = await new OpenAI({ baseURL, apiKey }).embeddings.create({ model, input });
      return data.map(({ embedding }) => embedding);
    },
  ],
  [
    "AI SDK embedMany",
    500,
    async (values) => {
      const { embeddings } = await embedMany({ model: createOpenAI({ baseURL, apiKey }).embedding(model), values });
      return embeddings;
    },
  ],
  [
    "AI SDK embedMany with bert-edge/ai-sdk",
    500,
    async (values) => (await embedMany({ model: bert.embeddingModel(model), values })).embeddings,
  ],
  [
    "LangChain embedDocuments with bert-edge/langchain",
    600,
    (documents) => new LangChainEmbeddings({ baseURL, apiKey, model }).embedDocuments(documents),
  ],
  [
    "LangChain embedDocuments",
    600,
    (documents) => new OpenAIEmbeddings({ model, apiKey, configuration: { baseURL } }).embedDocuments(documents),
  ],
  [
    "LlamaIndex getTextEmbeddings",
    600,
    (documents) =>
      new OpenAIEmbedding({ model, apiKey, additionalSessionOptions: { baseURL } }).getTextEmbeddings(documents),
  ],
  [
    "LlamaIndex getTextEmbeddingsBatch",
    600,
    (documents) =>
      new OpenAIEmbedding({ model, apiKey, additionalSessionOptions: { baseURL } }).getTextEmbeddingsBatch(documents),
  ],
];

/** Embeds one text with plain HTTP. */
async function alone(text) {
  const response = await fetch(`${baseURL}/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, input: text }),
  });
  return (await response.json()).data[0].embedding;
}

const cosine = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0) / Math.hypot(...a) / Math.hypot(...b);

for (const [name, count, embed] of clients) {
  const inputs = texts(count);
  const start = performance.now();
  const vectors = await embed(inputs);
  const ms = Math.round(performance.now() - start);
  if (vectors.length !== count) throw new Error(`${name}: ${vectors.length} vectors for ${count} texts`);
  for (const index of [0, 511, 512, count - 1].filter((index) => index < count)) {
    const agreement = cosine(vectors[index], await alone(inputs[index]));
    if (!(agreement > 0.9999)) throw new Error(`${name}: vector ${index} is of another text (cosine ${agreement})`);
  }
  // The limit above tells the texts apart.
  if (cosine(vectors[0], vectors[1]) > 0.9999) throw new Error(`${name}: the vectors of two texts are the same`);
  console.log(`  ${name}: ${count} texts in ${ms} ms`);
}

const documents = texts(20);
const { ranking } = await rerank({ model: bert.rerankingModel(model), query: documents[7], documents, topN: 3 });
if (ranking[0].originalIndex !== 7 || ranking.length !== 3) throw new Error("AI SDK rerank: another document is first");
console.log("  AI SDK rerank with bert-edge/ai-sdk");

const store = await MemoryVectorStore.fromTexts(documents, {}, new LangChainEmbeddings({ baseURL, apiKey, model }));
const [found] = await store.similaritySearch(documents[7], 1);
if (found.pageContent !== documents[7]) throw new Error("LangChain vector store: another document is first");
console.log("  LangChain vector store with bert-edge/langchain");

const shown = await fetch(new URL("tokenize", `${baseURL}/../`), {
  method: "POST",
  headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
  body: JSON.stringify({ inputs: documents[7] }),
});
const [tokens] = await shown.json();
const byIds = await new OpenAI({ baseURL, apiKey }).embeddings.create({ model, input: tokens.map(({ id }) => id) });
if (!(cosine(byIds.data[0].embedding, await alone(documents[7])) > 0.9999)) throw new Error("openai: wrong token ids");
console.log("  openai, token ids");
