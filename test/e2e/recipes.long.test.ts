import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writePreparableClassifier } from "../fixtures/classifier-case.ts";
import { workerModules } from "../fixtures/worker-modules.ts";
import { exampleOf, exampleWorkers, withOptions } from "./example-worker.ts";

/**
 * Stands in for a Vectorize index. `query` compares with all vectors, as
 * https://developers.cloudflare.com/vectorize/reference/client-api/ describes its answer.
 */
const vectorize = `
import { WorkerEntrypoint } from "cloudflare:workers";
const stored = new Map();
export class Index extends WorkerEntrypoint {
  async upsert(vectors) {
    for (const vector of vectors) stored.set(vector.id, vector);
    return { mutationId: "1" };
  }
  async query(vector, { topK, returnMetadata }) {
    const scored = [...stored.values()].map(({ id, values, metadata }) => {
      const score = values.reduce((sum, value, i) => sum + value * vector[i], 0);
      return { id, score, ...(returnMetadata === "all" && { metadata }) };
    });
    const matches = scored.sort((a, b) => b.score - a.score).slice(0, topK);
    return { count: matches.length, matches };
  }
}
export default {};
`;

const start = exampleWorkers();
const startClassifier = exampleWorkers({
  name: "distilbert-sst-2",
  write: (folder) => writePreparableClassifier(folder, ["NEGATIVE", "POSITIVE"]),
});
const authorization = "Bearer key";

/** Starts a Worker before the tests of a block. */
function running(make: () => Promise<Miniflare>): (path: string, init?: RequestInit) => Promise<Response> {
  let worker: Miniflare;
  beforeAll(async () => {
    worker = await make();
  });
  afterAll(() => worker?.dispose());
  return async (path, init = {}) =>
    fetch(new URL(path, await worker.ready), { ...init, headers: { authorization, ...init.headers } });
}

const edgeVariables = { MODEL: "bert-edge-mini", API_KEYS: "key" };

describe("the recipe for a Worker of your own", () => {
  const send = running(async () => startClassifier(exampleOf("docs/recipes.md", "bert.classify({ env"), {}));
  const classify = (body: string) => send("/", { method: "POST", body });

  it("answers with the labels of a text, best first, and cuts one that is too long", async () => {
    for (const text of ["a fine day", "a fine day ".repeat(1_000)]) {
      const response = await classify(text);
      expect(response.status).toBe(200);
      const scores = (await response.json()) as { label: string; score: number }[];
      expect(scores.map(({ label }) => label).sort()).toEqual(["NEGATIVE", "POSITIVE"]);
      const [first = 0, second = 0] = scores.map(({ score }) => score);
      expect(first).toBeGreaterThanOrEqual(second);
      expect(first + second).toBeCloseTo(1, 5);
    }
  });

  it("says what is wrong with an empty text", async () => {
    const response = await classify("");
    expect([response.status, await response.json()]).toEqual([400, { error: "Input 0 is empty." }]);
  });
});

describe("the recipe for Vectorize", () => {
  const send = running(async () =>
    start(
      withOptions(exampleOf("docs/recipes.md", "INDEX: Vectorize")),
      { bindings: edgeVariables, serviceBindings: { INDEX: { name: "vectorize", entrypoint: "Index" } } },
      [{ name: "vectorize", modules: [{ type: "ESModule", path: "index.js", contents: vectorize }] }],
    ),
  );

  it("stores documents, and finds the one that was asked for, with the version of its vector", async () => {
    const texts = ["where is the mill", "the brook is full", "a letter to the king"];
    const documents = texts.map((text, i) => ({ id: `${i}`, text }));
    const stored = await send("/v1/documents", { method: "PUT", body: JSON.stringify(documents) });
    expect(await stored.json()).toEqual({ stored: 3 });
    const found = await send("/v1/search", { method: "POST", body: texts[1] ?? "" });
    const { matches } = (await found.json()) as { matches: { id: string; score: number; metadata: object }[] };
    expect(matches).toHaveLength(3);
    expect(matches[0]).toEqual({
      id: "1",
      score: expect.closeTo(1, 5),
      metadata: { version: found.headers.get("x-bert-edge-version") ?? expect.stringMatching(/^[0-9a-f]{12}$/) },
    });
  });

  it("needs a key", async () => {
    const refused = await send("/v1/search", { method: "POST", body: "a", headers: { authorization: "" } });
    expect(refused.status).toBe(401);
  });
});

describe("the recipe for a service binding", () => {
  const send = running(async () =>
    start(
      exampleOf("docs/recipes.md", "BERT: { fetch"),
      { bindings: { BERT_KEY: "key" }, serviceBindings: { BERT: "my-api" } },
      [
        {
          name: "my-api",
          modules: await workerModules({ entryPoints: ["functions/edge.ts"] }),
          modulesRoot: "/",
          bindings: edgeVariables,
        },
      ],
    ),
  );

  it("answers with a vector of the bound Worker", async () => {
    const response = await send("/?q=where+is+the+mill");
    const vector = (await response.json()) as number[];
    expect(response.status).toBe(200);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });

  it("says which texts it cannot embed", async () => {
    const response = await send("/?q=");
    expect([response.status, await response.json()]).toEqual([400, { error: expect.stringContaining("empty") }]);
  });
});

describe("an app with a route of its own, for those who come from Workers AI", () => {
  const send = running(async () =>
    start(withOptions(exampleOf("docs/migrate.md", "declare const options")), { bindings: edgeVariables }),
  );

  it("embeds in process", async () => {
    const vector = (await (await send("/v1/mine")).json()) as number[];
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
  });
});

describe("an app that mounts the edge app below a path", () => {
  const send = running(async () => start(exampleOf("docs/own-app.md", 'app.route("/ai", bert)'), {}));

  it("answers below that path, to callers with its own token", async () => {
    const init = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
    const withToken = { ...init, headers: { ...init.headers, authorization: "Bearer my own check" } };
    expect((await send("/ai/v1/embed", init)).status).toBe(401);
    expect((await send("/v1/embed", withToken)).status).toBe(404);
    expect((await send("/ai/v1/embed", withToken)).status).toBe(400);
  });
});
