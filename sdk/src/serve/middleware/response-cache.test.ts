import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { backgroundWork, fakeEngine, publishTiny, TINY } from "#test/fixtures/tiny-model.ts";
import type { Engine } from "../../runtime/engine/engine.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { KeyWithDefaults } from "../call-defaults.ts";
import { embeddings } from "../embedding-routes.ts";
import type { EmbeddingsOptions } from "../index.ts";
import type { AnswerStore } from "./response-cache.ts";

const errors = errorLog();

/** A cache in memory that everything in a test shares. */
function memoryCache() {
  const entries = new Map<string, Response>();
  const store: AnswerStore = {
    match: async ({ url }) => entries.get(url)?.clone(),
    put: async ({ url }, response) => void entries.set(url, new Response(await response.arrayBuffer(), response)),
  };
  return { entries, store };
}

/** Settings of a deployment, and of its keys. */
interface Settings extends Pick<EmbeddingsOptions<object>, "aliases" | "defaults" | "engine" | "tier"> {
  names?: readonly string[];
  key?: Omit<KeyWithDefaults, "key">;
}

interface Setup extends Partial<Settings> {
  shared?: boolean;
  store?: AnswerStore;
}

async function setUp({
  names = [TINY.name],
  shared = false,
  store = memoryCache().store,
  key,
  engine = fakeEngine(),
  ...settings
}: Setup = {}) {
  const keys = ["web", "batch"].map((each) => ({ key: `secret-${each}`, name: each, ...key }));
  const models = memoryStore();
  for (const name of names) await publishTiny(models, undefined, { name });
  const cache = { store, seconds: 60, shared };
  const limits = { maxInputs: 20_000 };
  const { background, settled } = backgroundWork();
  const app = embeddings({
    ...settings,
    models,
    model: names,
    engine,
    keys,
    cache: () => cache,
    limits,
    cpuLimitMs: 1e9,
  });
  const ask = async (
    body: object | string,
    { key = "web", path = "/v1/embed", ...headers } = {} as Record<string, string>,
  ) => {
    const response = await app.request(
      path,
      {
        method: "POST",
        headers: { authorization: `Bearer secret-${key}`, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      },
      {},
      { waitUntil: background, passThroughOnException: () => {}, props: {} },
    );
    const text = await response.text();
    // Writing an entry goes on after the answer.
    await settled();
    return {
      status: response.status,
      cache: response.headers.get("x-bert-edge-cache"),
      headers: response.headers,
      text,
    };
  };
  await ask({ inputs: "loads the model" });
  return ask;
}

describe("responseCache", () => {
  it("repeats an answer to the same body, and names the request itself", async () => {
    const ask = await setUp();
    const first = await ask({ inputs: "a" }, { "x-request-id": "r-1" });
    const second = await ask({ inputs: "a" }, { "x-request-id": "r-2", "x-latency-budget-ms": "50" });
    expect([first.cache, second.cache, second.status]).toEqual(["miss", "hit", 200]);
    expect(second.text).toBe(first.text);
    expect(second.headers.get("x-request-id")).toBe("r-2");
    for (const header of ["server-timing", "x-bert-edge-decision"]) {
      expect([first.headers.has(header), second.headers.has(header)]).toEqual([true, false]);
    }
    for (const header of ["content-type", "x-bert-edge-model", "x-bert-edge-tier"]) {
      expect(second.headers.get(header)).toBe(first.headers.get(header));
    }
    expect(second.headers.has("cache-control")).toBe(false);
  });

  it("keeps long answers, but none of more than 1 MiB", async () => {
    const ask = await setUp();
    for (const [count, cache] of [
      [2_000, "hit"],
      [20_000, "miss"],
    ] as const) {
      const inputs = Array(count).fill("a");
      const [first, second] = [await ask({ inputs }), await ask({ inputs })];
      expect([first.cache, second.cache, second.text === first.text]).toEqual(["miss", cache, true]);
      expect(first.text.length > 1024 * 1024).toBe(cache === "miss");
    }
  });

  it("computes again for another key, unless keys share answers", async () => {
    const ask = await setUp();
    await ask({ inputs: "a" });
    expect((await ask({ inputs: "a" }, { key: "batch" })).cache).toBe("miss");
    expect((await ask({ inputs: "a" }, { key: "wrong" })).status).toBe(401);
    const askShared = await setUp({ shared: true });
    await askShared({ inputs: "a" });
    expect((await askShared({ inputs: "a" }, { key: "batch" })).cache).toBe("hit");
  });

  it.each([
    ["another text", { inputs: "b" }, {}],
    ["another field", { inputs: "a", encoding_format: "base64" }, {}],
    ["the same JSON with other bytes", '{"inputs": "a"}', {}],
    ["another route", { inputs: "a" }, { path: "/v1/embeddings" }],
    ["another tier", { inputs: "a" }, { "x-bert-edge-tier": "edge" }],
    ["another precision", { inputs: "a" }, { "x-bert-edge-precision": "int8" }],
  ])("computes again for %s", async (_, body, options) => {
    const ask = await setUp();
    expect((await ask({ inputs: "a" })).cache).toBe("miss");
    expect((await ask(body, options as Record<string, string>)).cache).toBe("miss");
  });

  it("computes again for another model in the same cache", async () => {
    const { store } = memoryCache();
    const [one, two] = [await setUp({ store, names: ["one"] }), await setUp({ store, names: ["two"] })];
    await one({ inputs: "a" });
    expect([(await one({ inputs: "a" })).cache, (await two({ inputs: "a" })).cache]).toEqual(["hit", "miss"]);
    expect(JSON.parse((await two({ inputs: "a" })).text)).toMatchObject({ model: "two" });
  });

  const otherEngine = fakeEngine();
  const load: Engine["load"] = async (...args) => ({ ...(await fakeEngine().load(...args)), provider: "other" });

  it.each<[string, Setup, Setup, body?: object]>([
    ["default of truncate", { defaults: { truncate: "right" } }, { defaults: { truncate: "left" } }],
    ["default of truncate, and of none before", {}, { defaults: { truncate: false } }],
    ["truncate of a key", { key: { truncate: "right" } }, { key: { truncate: "left" } }],
    ["default of the tier", {}, { defaults: { tier: "edge" } }],
    ["tier of a key", {}, { key: { tier: "edge" } }],
    ["name of its tier", {}, { tier: "region" }],
    ["model of an alias", { aliases: { other: "one" } }, { aliases: { other: "two" } }, { model: "other" }],
    ["number of models", { names: ["one"] }, {}],
    ["engine", {}, { engine: { ...otherEngine, load } }],
  ])("computes again after the deployment has got another %s", async (_, before, after, body = {}) => {
    const { store } = memoryCache();
    const long = { ...body, texts: [`${"to ".repeat(20)}${"be ".repeat(20)}`], input_type: "clustering" };
    const setting = { store, names: ["one", "two"] };
    const ask = async (settings: Setup) => {
      const post = await setUp({ ...setting, ...settings });
      const { status, cache } = await post({ model: "one", ...long }, { path: "/v2/embed" });
      return [status, cache];
    };
    expect(await ask(before)).toEqual([200, "miss"]);
    expect(await ask(before)).toEqual([200, "hit"]);
    expect(await ask(after)).toContain("miss");
  });

  it("sends no answer of another version, even if the cache returns one", async () => {
    const { store } = memoryCache();
    const match: AnswerStore["match"] = async (request) => {
      const found = await store.match(request);
      return (
        found &&
        new Response(found.body, { headers: { ...Object.fromEntries(found.headers), "x-bert-edge-model": "tiny@0" } })
      );
    };
    const ask = await setUp({ store: { ...store, match } });
    await ask({ inputs: "a" });
    expect((await ask({ inputs: "a" })).cache).toBe("miss");
  });

  it("keeps no errors", async () => {
    const { store, entries } = memoryCache();
    const ask = await setUp({ store });
    const before = entries.size;
    for (let i = 0; i < 2; i++) expect(await ask({ inputs: "" })).toMatchObject({ status: 400, cache: "miss" });
    expect(entries.size).toBe(before);
  });

  it("computes when the cache fails, and logs it", async () => {
    const down = () => Promise.reject(new Error("down"));
    const ask = await setUp({ store: { match: down, put: down } });
    expect(await ask({ inputs: "a" })).toMatchObject({ status: 200, cache: "miss" });
    expect(errors).toHaveBeenCalled();
  });

  it("keeps hashes, and neither keys nor texts, as names of entries", async () => {
    const { store, entries } = memoryCache();
    const ask = await setUp({ store });
    await ask({ inputs: "secrettext" });
    for (const url of entries.keys()) expect(url).toMatch(/\/v1\/embed\/answers\/[0-9a-f]{64}$/);
    expect(entries.size).toBeGreaterThan(0);
  });
});
