// Sends what gateways and chat programs send for their users: fields that are null, in other spellings, and no model.
import { assertSame, model, post, texts, vectorsOf } from "./check.js";

const isAlone = process.argv[5] === "alone";
const [first] = await vectorsOf(texts);
const nulls = (...names) => Object.fromEntries(names.map((name) => [name, null]));
const embeddings = { input: texts[0], ...nulls("encoding_format", "dimensions", "user") };
const ranking = { query: texts[0], documents: texts, ...nulls("top_n", "return_documents", "max_tokens_per_doc") };
const answers = {
  "/v1/embeddings": [embeddings, ({ data }) => data[0].embedding, first],
  "/embeddings": [embeddings, ({ data }) => data[0].embedding, first],
  "/v2/embed": [
    {
      texts: [texts[0]],
      input_type: "classification",
      ...nulls("embedding_types", "truncate", "output_dimension", "images"),
    },
    ({ embeddings }) => embeddings.float[0],
    first,
  ],
  "/v2/rerank": [ranking, ({ results }) => results[0].index, 0],
  "/v1/rerank": [ranking, ({ results }) => results[0].index, 0],
  "/embed": [{ inputs: texts[0], ...nulls("truncate", "normalize", "prompt_name") }, ([only]) => only, first],
};
/** Routes that need the name of a model if several are served. Their clients always have a field for it. */
const naming = ["/v1/embeddings", "/embeddings", "/v2/embed", "/v2/rerank"];

for (const [path, [body, read, expected]] of Object.entries(answers)) {
  const named = await post(path, { ...body, model });
  assertSame(`POST ${path} with fields that are null`, read(named.json), expected);
  const unnamed = await post(path, { ...body, model: null });
  if (isAlone || !naming.includes(path)) assertSame(`POST ${path} without a model`, read(unnamed.json), expected);
  else assertSame(`POST ${path} names the models`, /Set `model` to one of/.test(JSON.stringify(unnamed.json)), true);
}

const spellings = {
  "/v1/embeddings": ["encodingFormat", "inputType", "truncatePromptTokens", "lateChunking", "outputDimension"],
  "/v1/rerank": ["topN", "returnDocuments", "maxTokensPerDoc"],
  "/v2/embed": ["inputType", "embeddingTypes", "outputDimension", "maxTokens"],
  "/v2/rerank": ["topN", "maxTokensPerDoc"],
};
for (const [path, names] of Object.entries(spellings)) {
  for (const name of names) {
    const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const [body] = answers[path];
    const { [snake]: _, ...rest } = body;
    const { status, json } = await post(path, { ...rest, model, [name]: "x" });
    const isNamed = JSON.stringify(json).includes(`\`${snake}\``);
    assertSame(`POST ${path} refuses ${name} and names ${snake}`, [status, isNamed], [400, true]);
  }
}
// Open WebUI and LibreChat send fields of their own. They have no effect.
const others = { model, input: texts, user: "anna", metadata: { chat: 1 }, stream: false, prefix: null };
const { json } = await post("/v1/embeddings", others);
assertSame("POST /v1/embeddings with fields of gateways", json.data.length, texts.length);
