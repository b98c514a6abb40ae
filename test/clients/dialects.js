// Runs in a folder that has the packages from the npm registry: calls routes of other dialects than OpenAI's with their clients.
import { InferenceClient } from "@huggingface/inference";
import { CohereClientV2 } from "cohere-ai";

const [url, key, model] = process.argv.slice(2);
const hub = new InferenceClient(key);
const cohere = new CohereClientV2({ token: key, environment: url });
const texts = ["The mill stands at the brook.", "A mill is near a stream.", "Stocks fell on Monday."];

/** Asks one of our own routes. */
async function own(path, body) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

/** Compares JSON whose numbers may differ in their last digits. */
function assertSame(name, found, expected) {
  const rounded = (value) =>
    JSON.stringify(value, (_, each) => (typeof each === "number" ? each.toPrecision(6) : each));
  if (rounded(found) !== rounded(expected)) {
    throw new Error(`${name}: ${rounded(found).slice(0, 200)} instead of ${rounded(expected).slice(0, 200)}`);
  }
  console.log(`  ${name}`);
}

const { embeddings } = await own("/v1/embed", { inputs: texts });
assertSame(
  "Hugging Face featureExtraction",
  await hub.featureExtraction({ endpointUrl: url, inputs: texts }),
  embeddings,
);
assertSame(
  "Hugging Face sentenceSimilarity",
  await hub.sentenceSimilarity({ endpointUrl: url, inputs: { source_sentence: texts[0], sentences: texts } }),
  (await own("/v1/similarity", { source: texts[0], texts })).scores,
);
assertSame(
  "Hugging Face textClassification",
  await hub.textClassification({ endpointUrl: `${url}/models/topics`, inputs: texts[0] }),
  (await own("/v1/classify", { inputs: texts[0], model: "topics" })).results[0],
);
assertSame(
  "Hugging Face zeroShotClassification",
  await hub.zeroShotClassification({
    endpointUrl: url,
    inputs: texts[0],
    parameters: { candidate_labels: ["water", "money"] },
  }),
  (await own("/v1/zero-shot", { inputs: texts[0], candidate_labels: ["water", "money"] })).results[0],
);
const sentence = "Anna works in New York.";
const entities = await hub.tokenClassification({
  endpointUrl: `${url}/models/people`,
  inputs: sentence,
  parameters: { aggregation_strategy: "simple", ignore_labels: [] },
});
assertSame(
  "Hugging Face tokenClassification",
  entities.map(({ entity_group, score, word, start, end }) => [entity_group, score, word, start, end]),
  (await own("/v1/tag", { inputs: sentence, model: "people", ignore_labels: [] })).results[0].map((each) => [
    ...[each.label, each.score, each.text, each.start, each.end],
  ]),
);
const asked = { question: "Where does Anna work?", context: sentence };
assertSame(
  "Hugging Face questionAnswering",
  await hub.questionAnswering({ endpointUrl: `${url}/models/facts`, inputs: asked }),
  (await own("/v1/answer", { ...asked, model: "facts" })).results[0][0],
);
const masked = "Anna works in [MASK] York.";
assertSame(
  "Hugging Face fillMask",
  (await hub.fillMask({ endpointUrl: `${url}/models/words`, inputs: masked })).map((each) => [
    ...[each.token, each.token_str, each.score, each.sequence],
  ]),
  (await own("/v1/fill-mask", { inputs: masked, model: "words" })).results[0][0].map((each) => [
    ...[each.token_id, each.token, each.score, each.sequence],
  ]),
);
const cohereVectors = await cohere.embed({
  model,
  texts,
  inputType: "search_document",
  embeddingTypes: ["float", "int8"],
});
assertSame("Cohere embed", cohereVectors.embeddings.float, embeddings);
const ranked = await cohere.rerank({ model, query: texts[0], documents: texts, topN: 2 });
assertSame(
  "Cohere rerank",
  ranked.results.map(({ index, relevanceScore }) => [index, relevanceScore]),
  (await own("/v1/rerank", { query: texts[0], documents: texts, top_n: 2 })).results.map((each) => [
    each.index,
    each.relevance_score,
  ]),
);
