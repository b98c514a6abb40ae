// Runs in a folder that has the packages from the npm registry: calls Cohere's routes with both versions of its client.
import { CohereClient, CohereClientV2 } from "cohere-ai";
import { assertRefused, assertSame, key, LONG, model, own, texts, url, vectorsOf } from "./check.js";

const client = new CohereClientV2({ token: key, environment: url });
const first = new CohereClient({ token: key, environment: url });
const embed = async (options) =>
  (await client.embed({ model, texts, inputType: "classification", embeddingTypes: ["float"], ...options })).embeddings;

const types = ["float", "int8", "uint8", "binary", "ubinary"];
const all = await embed({ embeddingTypes: [...types, "base64"] });
for (const type of types) {
  const expected = await vectorsOf(texts, { output_type: type });
  assertSame(`Cohere embed, ${type}`, all[type], expected);
  assertSame(`Cohere embed, only ${type}`, (await embed({ embeddingTypes: [type] }))[type], expected);
}
assertSame("Cohere embed, base64", all.base64, await vectorsOf(texts, { encoding_format: "base64" }));
const plain = await vectorsOf(texts);
assertSame("Cohere embed, no embedding_types", (await embed({ embeddingTypes: undefined })).float, plain);
const shorter = await vectorsOf(texts, { dimensions: 8 });
assertSame("Cohere embed, output_dimension", (await embed({ outputDimension: 8 })).float, shorter);

for (const [inputType, prompt_name] of [
  ["search_query", "query"],
  ["search_document", "document"],
]) {
  const asked = { model: "prompted", inputType };
  const expected = await vectorsOf(texts, { model: "prompted", prompt_name });
  const without = await vectorsOf(texts, { model: "prompted" });
  assertSame(`Cohere embed, input_type ${inputType}`, (await embed(asked)).float, expected, without);
}

const [right, left] = [await vectorsOf([LONG], { truncate: "right" }), await vectorsOf([LONG], { truncate: "left" })];
for (const [truncate, expected, other] of [
  [undefined, right, left],
  ["END", right, left],
  ["START", left, right],
]) {
  assertSame(`Cohere embed, truncate ${truncate}`, (await embed({ texts: [LONG], truncate })).float, expected, other);
}
const none = () => embed({ texts: [LONG], truncate: "NONE" });
await assertRefused("Cohere embed, truncate NONE", none, /set `truncate` to \\"END\\"/);
const limited = { texts: [LONG], maxTokens: 16 };
for (const truncate of ["END", "START"]) {
  const { embeddings, meta } = await client.embed({ model, inputType: "classification", truncate, ...limited });
  const body = { model, input: LONG, truncate, truncate_prompt_tokens: 16 };
  const { data } = await own("/v1/embeddings", body);
  const whole = truncate === "END" ? right : left;
  assertSame(`Cohere embed, max_tokens from ${truncate}`, embeddings.float, [data[0].embedding], whole);
  assertSame("Cohere embed, billed units of max_tokens", meta.billedUnits.inputTokens, 16);
}
const parts = () => embed({ texts: undefined, inputs: [{ content: [{ type: "text", text: "a" }] }] });
await assertRefused("Cohere embed, inputs", parts, /Send `texts`/);
const images = () => embed({ texts: undefined, images: ["data:image/png;base64,AAAA"], inputType: "image" });
await assertRefused("Cohere embed, images", images, /Send `texts`/);

const documents = [...texts, LONG];
const rankedBy = async (by, options) => {
  const { results } = await by.rerank({ model, query: texts[0], documents, ...options });
  return results.map(({ index, relevanceScore }) => [index, relevanceScore]);
};
const ownRanking = async (options) =>
  (await own("/v1/rerank", { query: texts[0], documents, ...options })).results.map((each) => [
    ...[each.index, each.relevance_score],
  ]);
const ranking = await ownRanking({});
assertSame("Cohere rerank", await rankedBy(client, {}), ranking);
assertSame("Cohere rerank, top_n", await rankedBy(client, { topN: 2 }), ranking.slice(0, 2));
const few = await ownRanking({ max_tokens_per_doc: 4 });
assertSame("Cohere rerank, max_tokens_per_doc", await rankedBy(client, { maxTokensPerDoc: 4 }), few, ranking);
assertSame("Cohere rerank, priority", await rankedBy(client, { priority: 1 }), ranking);

assertSame("Cohere v1 rerank", await rankedBy(first, { topN: 2 }), ranking.slice(0, 2));
assertSame(
  "Cohere v1 client's v2",
  (await first.v2.embed({ model, texts, inputType: "clustering" })).embeddings.float,
  plain,
);
const chunks = () => rankedBy(first, { maxChunksPerDoc: 10 });
await assertRefused("Cohere v1 rerank, max_chunks_per_doc", chunks, /max_chunks_per_doc/);
const old = (options) => () => first.embed({ model, texts, inputType: "search_document", ...options });
await assertRefused("Cohere v1 embed", old({}), /\/v2\/embed/);
await assertRefused("Cohere v1 embed, embedding_types", old({ embeddingTypes: ["float"] }), /\/v2\/embed/);
