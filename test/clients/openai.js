// Runs in a folder that has the packages from the npm registry: calls OpenAI's route with the last four majors of its client.
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

const float32 = (base64) => [...new Float32Array(Uint8Array.from(atob(base64), (each) => each.charCodeAt(0)).buffer)];
const vectors = await vectorsOf(texts);
const shorter = await vectorsOf(texts, { dimensions: 8 });
const [ids] = await own("/tokenize", { inputs: texts[0] });

for (const major of [4, 5, 6, 7]) {
  const { default: OpenAI } = await import(`openai${major}`);
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const cutting = new OpenAI({ baseURL: `${url}/v1`, apiKey: cuttingKey });
  const embed = async (body, by = client) => by.embeddings.create({ model, input: texts, ...body });
  const embedded = async (body, by) => (await embed(body, by)).data.map(({ embedding }) => embedding);
  const name = (call) => `openai ${major}, ${call}`;

  assertSame(name("default"), await embedded({}), vectors);
  assertSame(name("one text"), await embedded({ input: texts[0] }), [vectors[0]]);
  assertSame(name("float"), await embedded({ encoding_format: "float" }), vectors);
  assertSame(name("base64"), (await embedded({ encoding_format: "base64" })).map(float32), vectors);
  assertSame(name("dimensions"), await embedded({ dimensions: 8 }), shorter);
  assertSame(name("token ids"), await embedded({ input: ids.map(({ id }) => id) }), [vectors[0]]);

  const listed = [];
  for await (const { id } of client.models.list()) listed.push(id);
  assertSame(name("models.list"), listed.includes(model), true);
  for (const asked of [model, `sentence-transformers/${model}`, model.toUpperCase(), "ACME/Bert-Edge-Mini"]) {
    assertSame(name(`models.retrieve ${asked}`), (await client.models.retrieve(asked)).id, model);
    assertSame(name(`model ${asked}`), await embedded({ model: asked }), vectors);
  }
  const missing = () => client.models.retrieve("text-embedding-3-small");
  await assertRefused(name("models.retrieve of another"), missing, /does not serve the model "text-embedding-3-small"/);
  await assertRefused(name("another model"), () => embed({ model: "other" }), /Set `model` to one of "bert-edge-mini"/);

  const below = new OpenAI({ baseURL: `${url}/models/topics/v1`, apiKey: key });
  const [only, ...rest] = (await below.models.list()).data;
  assertSame(name("models.list below /models/<name>"), [only.id, rest], ["topics", []]);

  // The error names `truncate`, and the option of the key for clients that cannot send it.
  const input = [texts[0], LONG];
  const short = (await embed({ input: texts[0] })).usage.total_tokens;
  const cut = await vectorsOf(input, { truncate: true });
  const usage = { prompt_tokens: short + MAX_TOKENS, total_tokens: short + MAX_TOKENS };
  const hint = /Input 1 has .* set `truncate` to true .* give the API key the option `truncate`/;
  await assertRefused(name("a long text"), () => embed({ input }), hint);
  for (const [how, body, by] of [
    ["truncate: true", { truncate: true }, client],
    ["the key", {}, cutting],
  ]) {
    const answer = await embed({ input, ...body }, by);
    assertSame(
      name(`a long text cut by ${how}`),
      answer.data.map(({ embedding }) => embedding),
      cut,
    );
    assertSame(name(`usage of a long text cut by ${how}`), { ...answer.usage }, usage);
  }
  const left = await vectorsOf(input, { truncate: "left" });
  assertSame(name("a long text cut at its beginning"), await embedded({ input, truncate: "left" }), left, cut);
}
