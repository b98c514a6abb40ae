// Runs the Worker of wrangler.toml in workerd, with an empty bucket and a key of its own.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { openFolder, publish } from "bert-edge";
import { BertEdge } from "bert-edge/client";
import { r2Publisher } from "bert-edge/storage/r2-publisher";
import { createTestHarness } from "wrangler";

const server = createTestHarness({ workers: [{ configPath: "wrangler.toml", secrets: { API_KEYS: "key" } }] });

/** @type {BertEdge} */
let bert;

before(async () => {
  const { url } = await server.listen();
  const { MODELS: bucket, MODEL: model } = await server.getWorker().getEnv();
  assert(bucket, "wrangler.toml has no R2 bucket with the binding MODELS.");
  for (const name of String(model)
    .split(",")
    .map((each) => each.trim())) {
    const folder = `models/${name}`;
    assert(existsSync(folder), `wrangler.toml says MODEL = "${model}", but there is no ${folder}.`);
    const artifact = await openFolder(folder);
    assert(artifact.manifest.name === name, `The model in ${folder} is named "${artifact.manifest.name}".`);
    await publish(artifact, r2Publisher(bucket));
  }
  bert = new BertEdge({ baseURL: url.origin, apiKey: "key" });
});
after(() => server.close());

/**
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
const dot = (a, b) => Array.from(a).reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);

test("similar texts have similar vectors", async () => {
  // One text per request: Workers' free plan allows 10 ms of CPU time for each.
  const texts = ["A cat sleeps on the sofa.", "A kitten naps on the couch.", "Shares fell after the bank's report."];
  const answers = await Promise.all(texts.map((text) => bert.embed(text)));
  const [cat, kitten, shares] = answers.map(({ embeddings }) => embeddings[0]);
  assert(cat && kitten && shares);
  assert(dot(cat, kitten) > dot(cat, shares));
});

test("a request without a key is refused", async () => {
  const response = await server.fetch("/v1/embed", { method: "POST", body: '{"inputs": "hello"}' });
  assert.equal(response.status, 401);
});
