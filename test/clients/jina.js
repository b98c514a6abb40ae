// Runs in a folder that has the packages from the npm registry: sends Jina's bodies with clients of Jina's API.
import { JinaEmbeddings } from "@langchain/community/embeddings/jina";
import { JinaAIEmbedding } from "@llamaindex/jinaai";
import { embedMany } from "ai";
import { createJina } from "jina-ai-provider";
import { assertRefused, assertSame, key, LONG, model, texts, url, vectorsOf } from "./check.js";

const vectors = await vectorsOf(texts);
const prompted = await vectorsOf(texts, { model: "prompted", normalize: true });
const roles = [
  ["retrieval.query", await vectorsOf(texts, { model: "prompted", normalize: true, prompt_name: "query" })],
  ["retrieval.passage", await vectorsOf(texts, { model: "prompted", normalize: true, prompt_name: "document" })],
];
const binary = await vectorsOf(texts, { output_type: "binary" });
const ubinary = await vectorsOf(texts, { output_type: "ubinary" });
const cut = await vectorsOf([LONG], { truncate: true });
const tooLong = /set `truncate` to true .* give the API key the option `truncate`/;
const otherTask = /`?task`?: must be "retrieval.query" or "retrieval.passage", not "text-matching"/;

// The AI SDK's provider.
const provider = createJina({ baseURL: `${url}/v1`, apiKey: key });
async function bySdk(options, values = texts, name = model) {
  const asked = { model: provider.textEmbeddingModel(name), values, maxRetries: 0, providerOptions: { jina: options } };
  return (await embedMany(asked)).embeddings;
}
for (const [options, expected, other] of [
  [{}, vectors],
  [{ outputDimension: 8 }, await vectorsOf(texts, { dimensions: 8 })],
  [{ embeddingType: "float" }, vectors],
  [{ embeddingType: "binary" }, binary, ubinary],
  [{ embeddingType: "ubinary" }, ubinary, binary],
  [{ lateChunking: false }, vectors],
  [{ normalized: true }, vectors],
  [{ truncate: false }, vectors],
]) {
  assertSame(`jina-ai-provider ${JSON.stringify(options)}`, await bySdk(options), expected, other);
}
for (const [inputType, expected] of roles) {
  assertSame(`jina-ai-provider ${inputType}`, await bySdk({ inputType }, texts, "prompted"), expected, prompted);
}
const raw = await vectorsOf(texts, { model: "prompted" });
assertSame("jina-ai-provider normalized: false", await bySdk({ normalized: false }, texts, "prompted"), raw, prompted);
assertSame("jina-ai-provider truncate", await bySdk({ truncate: true }, [LONG]), cut);
await assertRefused("jina-ai-provider, a long text", () => bySdk({}, [LONG]), tooLong);
await assertRefused("jina-ai-provider lateChunking", () => bySdk({ lateChunking: true }), /late_chunking/);
await assertRefused("jina-ai-provider text-matching", () => bySdk({ inputType: "text-matching" }), otherTask);
const unit = () => bySdk({ normalized: false });
await assertRefused("jina-ai-provider normalized: false of unit vectors", unit, /Leave `normalized` out/);

// LangChain's class takes no base URL when it is made. Its errors are what the answer has in `detail`.
function langChain(options) {
  const embeddings = new JinaEmbeddings({ apiKey: key, model, dimensions: vectors[0].length, ...options });
  return Object.assign(embeddings, { baseUrl: `${url}/v1/embeddings` });
}
assertSame("LangChain JinaEmbeddings", await langChain({}).embedDocuments(texts), vectors);
const objects = texts.map((text) => ({ text }));
assertSame("LangChain JinaEmbeddings, objects", await langChain({}).embedDocuments(objects), vectors);
const mixed = [objects[0], ...texts.slice(1)];
assertSame("LangChain JinaEmbeddings, objects and strings", await langChain({}).embedDocuments(mixed), vectors);
const [[, [query]]] = roles;
assertSame("LangChain JinaEmbeddings, query", await langChain({ model: "prompted" }).embedQuery(texts[0]), query);
const image = () => langChain({}).embedDocuments([{ image: "https://images.test/a.png" }]);
await assertRefused("LangChain JinaEmbeddings, image", image, /an object with only `text`/);
const wide = () => langChain({ dimensions: 1024 }).embedDocuments(texts);
await assertRefused("LangChain JinaEmbeddings, 1,024 dimensions", wide, /Leave `dimensions` out/);
await assertRefused("LangChain JinaEmbeddings, a long text", () => langChain({}).embedDocuments([LONG]), tooLong);

// LlamaIndex sends each text as an object, and `encoding_type`.
const llamaIndex = (options) =>
  new JinaAIEmbedding({ apiKey: key, model, baseURL: `${url}/v1/embeddings`, ...options });
for (const [options, expected, other] of [
  [{}, vectors],
  [{ dimensions: 8 }, await vectorsOf(texts, { dimensions: 8 })],
  [{ encodingType: "float" }, vectors],
  [{ encodingType: "binary" }, binary, ubinary],
  [{ encodingType: "ubinary" }, ubinary, binary],
  [{ late_chunking: false }, vectors],
]) {
  const name = `LlamaIndex JinaAIEmbedding ${JSON.stringify(options)}`;
  assertSame(name, await llamaIndex(options).getTextEmbeddings(texts), expected, other);
}
const asQuery = await vectorsOf(texts, { model: "prompted", prompt_name: "query" });
const queries = await llamaIndex({ task: "retrieval.query", model: "prompted" }).getTextEmbeddings(texts);
assertSame("LlamaIndex JinaAIEmbedding retrieval.query", queries, asQuery, raw);
assertSame("LlamaIndex JinaAIEmbedding, one text", await llamaIndex({}).getTextEmbedding(texts[0]), vectors[0]);
for (const [name, options, words] of [
  ["late_chunking", { late_chunking: true }, /late_chunking/],
  ["text-matching", { task: "text-matching" }, otherTask],
]) {
  const refused = () => llamaIndex(options).getTextEmbeddings(texts);
  await assertRefused(
    `LlamaIndex JinaAIEmbedding ${name}`,
    refused,
    new RegExp(words.source.replaceAll('"', '\\\\?"')),
  );
}
await assertRefused("LlamaIndex JinaAIEmbedding, a long text", () => llamaIndex({}).getTextEmbedding(LONG), tooLong);
