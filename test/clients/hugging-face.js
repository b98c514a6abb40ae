// Runs in a folder that has the packages from the npm registry: calls the task of each model with Hugging Face's client.
import { InferenceClient } from "@huggingface/inference";
import { assertRefused, assertSame, key, LONG, own, texts, url, vectorsOf } from "./check.js";

const hub = new InferenceClient(key);
const at = (name) => `${url}/models/${name}`;

const features = (options, endpointUrl = url) => hub.featureExtraction({ endpointUrl, inputs: texts, ...options });
const vectors = await vectorsOf(texts);
assertSame("Hugging Face featureExtraction", await features({}), vectors);
assertSame("Hugging Face featureExtraction, one text", await features({ inputs: texts[0] }), vectors[0]);
assertSame(
  "Hugging Face featureExtraction, endpoint()",
  await hub.endpoint(url).featureExtraction({ inputs: texts }),
  vectors,
);
assertSame(
  "Hugging Face featureExtraction, dimensions",
  await features({ dimensions: 8 }),
  await vectorsOf(texts, { dimensions: 8 }),
);
assertSame("Hugging Face featureExtraction, encoding_format", await features({ encoding_format: "float" }), vectors);
const [right, left] = [await vectorsOf([LONG], { truncate: "right" }), await vectorsOf([LONG], { truncate: "left" })];
for (const [options, expected, other] of [
  [{}, right, left],
  [{ truncate: true }, right, left],
  [{ truncation_direction: "right" }, right, left],
  [{ truncation_direction: "left" }, left, right],
  [{ truncation_direction: "Left", truncate: true }, left, right],
]) {
  const name = `Hugging Face featureExtraction, a long text with ${JSON.stringify(options)}`;
  assertSame(name, await features({ inputs: [LONG], ...options }), expected, other);
}
const whole = (options) => features({ inputs: [LONG], truncate: false, ...options });
await assertRefused("Hugging Face featureExtraction, truncate: false", whole, /set `parameters.truncate` to true/);
assertSame("Hugging Face featureExtraction, with that hint", await whole({ parameters: { truncate: true } }), right);
const prompted = await vectorsOf(texts, { model: "prompted" });
for (const [options, same] of [
  [{ normalize: true }, { normalize: true }],
  [{ prompt_name: "query" }, { prompt_name: "query" }],
]) {
  const expected = await vectorsOf(texts, { model: "prompted", ...same });
  const name = `Hugging Face featureExtraction, ${JSON.stringify(options)}`;
  assertSame(name, await features(options, at("prompted")), expected, prompted);
}
assertSame(
  "Hugging Face featureExtraction, normalize: false",
  await features({ normalize: false }, at("prompted")),
  prompted,
);
const unit = () => features({ normalize: false });
await assertRefused("Hugging Face featureExtraction, normalize: false of unit vectors", unit, /Leave `normalize` out/);

const compared = (sentences, parameters) =>
  hub.sentenceSimilarity({ endpointUrl: url, inputs: { source_sentence: texts[0], sentences }, parameters });
const scoresOf = async (list, options) =>
  (await own("/v1/similarity", { source: texts[0], texts: list, ...options })).scores;
assertSame("Hugging Face sentenceSimilarity", await compared(texts), await scoresOf(texts));
const cut = [await scoresOf([LONG], { truncate: "left" }), await scoresOf([LONG], { truncate: "right" })];
assertSame(
  "Hugging Face sentenceSimilarity, truncation_direction",
  await compared([LONG], { truncation_direction: "left" }),
  ...cut,
);

const classified = (parameters, inputs = texts[0]) =>
  hub.textClassification({ endpointUrl: at("topics"), inputs, parameters });
const labelsOf = async (options, inputs = texts[0]) =>
  (await own("/v1/classify", { inputs, model: "topics", ...options })).results[0];
const labels = await labelsOf({});
assertSame("Hugging Face textClassification", await classified(), labels);
assertSame("Hugging Face textClassification, top_k", await classified({ top_k: 1 }), labels.slice(0, 1));
for (const function_to_apply of ["sigmoid", "softmax", "none"]) {
  const expected = await labelsOf({ function_to_apply });
  assertSame(
    `Hugging Face textClassification, ${function_to_apply}`,
    await classified({ function_to_apply }),
    expected,
  );
}
const fromRight = await labelsOf({ truncate: "right" }, LONG);
const fromLeft = await labelsOf({ truncate: "left" }, LONG);
assertSame("Hugging Face textClassification, a long text", await classified(undefined, LONG), fromRight, fromLeft);
assertSame(
  "Hugging Face textClassification, left",
  await classified({ truncation_direction: "left" }, LONG),
  fromLeft,
  fromRight,
);

for (const parameters of [
  { candidate_labels: ["water", "money"] },
  { candidate_labels: ["water", "money"], multi_label: true },
  { candidate_labels: ["water", "money"], hypothesis_template: "A text about {}." },
]) {
  const found = await hub.zeroShotClassification({ endpointUrl: url, inputs: texts[0], parameters });
  const [expected] = (await own("/v1/zero-shot", { inputs: texts[0], ...parameters })).results;
  assertSame(`Hugging Face zeroShotClassification, ${Object.keys(parameters)}`, found, expected);
}

const sentence = "Anna works in New York.";
for (const aggregation_strategy of ["simple", "first", "average", "max"]) {
  const parameters = { aggregation_strategy, ignore_labels: [] };
  const entities = await hub.tokenClassification({ endpointUrl: at("people"), inputs: sentence, parameters });
  const [expected] = (await own("/v1/tag", { inputs: sentence, model: "people", ...parameters })).results;
  assertSame(
    `Hugging Face tokenClassification, ${aggregation_strategy}`,
    entities.map(({ entity_group, score, word, start, end }) => [entity_group, score, word, start, end]),
    expected.map(({ label, score, text, start, end }) => [label, score, text, start, end]),
  );
}
const strided = () =>
  hub.tokenClassification({ endpointUrl: at("people"), inputs: sentence, parameters: { stride: 16 } });
await assertRefused("Hugging Face tokenClassification, stride", strided, /Send long texts in parts/);

const asked = { question: "Where does Anna work?", context: `${sentence} ${"She likes rain. ".repeat(30)}` };
for (const [options, same = options] of [
  [undefined, {}],
  // The client returns only the best answer.
  [{ top_k: 2 }],
  [{ max_answer_len: 2 }, { max_answer_tokens: 2 }],
  [{ handle_impossible_answer: true }],
  [{ doc_stride: 8 }],
  [{ max_question_len: 64 }, {}],
]) {
  const found = await hub.questionAnswering({ endpointUrl: at("facts"), inputs: asked, parameters: options });
  const [[expected]] = (await own("/v1/answer", { ...asked, model: "facts", ...same })).results;
  assertSame(`Hugging Face questionAnswering, ${JSON.stringify(options ?? {})}`, found, expected);
}
for (const parameters of [{ align_to_words: false }, { max_seq_len: 32, doc_stride: 8 }]) {
  const found = await hub.questionAnswering({ endpointUrl: at("facts"), inputs: asked, parameters });
  const isQuoted = found.answer === asked.context.slice(found.start, found.end);
  assertSame(`Hugging Face questionAnswering, ${JSON.stringify(parameters)}`, isQuoted, true);
}
const shorter = { endpointUrl: at("facts"), inputs: asked, parameters: { max_question_len: 8 } };
await assertRefused(
  "Hugging Face questionAnswering, max_question_len",
  () => hub.questionAnswering(shorter),
  /max_question_len/,
);

const masked = "Anna works in [MASK] York.";
for (const parameters of [undefined, { top_k: 2 }, { targets: ["a", "the"] }]) {
  const found = await hub.fillMask({ endpointUrl: at("words"), inputs: masked, parameters });
  const [[expected]] = (await own("/v1/fill-mask", { inputs: masked, model: "words", ...parameters })).results;
  assertSame(
    `Hugging Face fillMask, ${JSON.stringify(parameters ?? {})}`,
    found.map(({ token, token_str, score, sequence }) => [token, token_str, score, sequence]),
    expected.map(({ token_id, token, score, sequence }) => [token_id, token, score, sequence]),
  );
}
