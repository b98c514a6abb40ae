import { describe, expect, it } from "vitest";
import { taskStore } from "#test/fixtures/task-model.ts";
import { backgroundWork, fakeEngine, TINY } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { TargetName, Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../edge-app.ts";
import type { AnswerStore } from "../middleware/response-cache.ts";
import { regionTier } from "../region/region.ts";
import { createRegionApp } from "../region-app.ts";

const sigmoids: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
const logits: Task = { ...sigmoids, activation: "none" };

/** Ids of the documents' only token: the last document fits best. */
const DOCUMENTS = ["a", "b", "c", "d"];
const FIRST_ID = 1037;
const BEST_FIRST = [3, 2, 1, 0];

/** Logits for which the sigmoid of a float64 is 1, 0 and neither. */
const lowest = { ones: 40, zeros: -800, others: -1 };
const STEP = 0.25;
const sigmoid = (logit: number) => 1 / (1 + Math.exp(-logit));

/** Serves a cross-encoder at an edge that keeps answers and has a region. */
async function setUp(task: Task, first: number) {
  const store = await taskStore(task);
  const engine = (target: TargetName) =>
    fakeEngine({
      target,
      run: async (batch) => batch.map((ids) => Float32Array.of(first + STEP * ((ids.at(-2) ?? 0) - FIRST_ID))),
    });
  const options = { models: store, model: TINY.name, keys: ["k"], log: false as const };
  const region = createRegionApp({ ...options, engine: engine("regional-cpu") });
  const kept = new Map<string, Response>();
  const cache: AnswerStore = {
    match: async ({ url }) => kept.get(url)?.clone(),
    put: async ({ url }, answer) => void kept.set(url, answer),
  };
  const asked = regionTier({
    ...{ url: "http://region.test", key: "k" },
    fetch: (async (request: Request) => region.fetch(request)) as typeof fetch,
  });
  const edge = createEdgeApp({ ...options, engine: engine("edge"), region: asked, cache: { store: cache } });
  for (const app of [region, edge]) await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
  const { background, settled } = backgroundWork();
  const context = { waitUntil: background, passThroughOnException: () => {}, props: {} };
  return async (app: "edge" | "region", tier: string, path: string, body: object) => {
    const headers = { authorization: "Bearer k", "content-type": "application/json", "x-bert-edge-tier": tier };
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await (app === "edge" ? edge.request(path, request, {}, context) : region.request(path, request));
    const json = await response.json();
    await settled();
    expect({ status: response.status, json }).toMatchObject({ status: 200 });
    return { json, tier: response.headers.get("x-bert-edge-tier"), cache: response.headers.get("x-bert-edge-cache") };
  };
}

interface Ranked {
  readonly index: number;
  readonly score?: number;
  readonly relevance_score?: number;
}

const rank = { query: "a", documents: DOCUMENTS };
const texts = { query: "a", texts: DOCUMENTS };
/** Each route, and whether its scores are between 0 and 1 whatever the model says, or always logits. */
const routes: [path: string, body: object, scale?: "sigmoids" | "logits"][] = [
  ["/v1/rerank", rank],
  ["/rerank", rank],
  ["/v2/rerank", rank, "sigmoids"],
  ["/rerank", texts, "sigmoids"],
  ["/rerank", { ...texts, raw_scores: true }, "logits"],
];

describe.each(Object.entries(lowest))("documents whose sigmoids are %s", (_, first) => {
  it.each([
    ["sigmoids", sigmoids],
    ["logits", logits],
  ] as const)("are ranked by logits, with scores of each route, by a model with %s", async (ofModel, task) => {
    const ask = await setUp(task, first);
    for (const [path, body, scale = ofModel] of routes) {
      const expected = BEST_FIRST.map((index) => first + STEP * index).map((logit) =>
        scale === "logits" ? logit : sigmoid(logit),
      );
      for (const [app, tier, cache] of [
        ["edge", "edge", "miss"],
        ["edge", "edge", "hit"],
        ["edge", "region", "miss"],
        ["edge", "region", "hit"],
        ["region", "region", null],
      ] as const) {
        const answer = await ask(app, tier, path, body);
        expect(answer).toMatchObject({ tier, cache });
        const results: Ranked[] = Array.isArray(answer.json) ? answer.json : answer.json.results;
        expect(results.map(({ index }) => index)).toEqual(BEST_FIRST);
        const scores = results.map(({ score, relevance_score }) => score ?? relevance_score);
        expect(scores).toEqual(expected.map((score) => expect.closeTo(score, 12)));
      }
      const [best] = BEST_FIRST;
      const { json } = await ask("edge", "region", path, "documents" in body ? { ...body, top_n: 1 } : body);
      expect(Array.isArray(json) ? json[0].index : json.results[0].index).toBe(best);
    }
  });
});
