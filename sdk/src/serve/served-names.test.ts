import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../artifact/manifest.ts";
import { createEdgeApp } from "./edge-app.ts";
import { createRegionApp } from "./region-app.ts";
import { aliasesFromEnv, servedNames } from "./served-names.ts";

const NAMES = ["all-minilm-l6-v2", "bge-small"];
const found = (model: string, aliases = {}) => servedNames(NAMES, aliases).find(model).name;

describe("the names of served models", () => {
  it.each([
    ["all-minilm-l6-v2", "all-minilm-l6-v2"],
    ["All-MiniLM-L6-v2", "all-minilm-l6-v2"],
    ["sentence-transformers/All-MiniLM-L6-v2", "all-minilm-l6-v2"],
    ["BAAI/bge-small", "bge-small"],
    ["text-embedding-3-small", "bge-small"],
    ["openai/text-embedding-3-small", "bge-small"],
    ["Ada/002", "all-minilm-l6-v2"],
  ])("%s means %s", (asked, name) => {
    expect(found(asked, { "text-embedding-3-small": "bge-small", "ada/002": "all-minilm-l6-v2" })).toBe(name);
  });

  it("keep the version that a request pins", () => {
    expect(servedNames(NAMES).find("BAAI/BGE-small@0123456789ab")).toEqual({
      name: "bge-small",
      version: "0123456789ab",
    });
  });

  it.each([
    "",
    "other",
    "a/b/bge-small",
    "bge-small/",
    "/bge-small",
    "../bge-small",
    "../../bge-small",
    "bge",
    "bge-small@1@2",
  ])("do not stand for %j", (model) => {
    expect(() => found(model)).toThrow(
      expect.objectContaining({ code: "model_unknown", hint: expect.stringContaining('"all-minilm-l6-v2"') }),
    );
  });

  it("are ambiguous if two models are meant", () => {
    const aliases = { "a/small": "bge-small", "b/small": "all-minilm-l6-v2" };
    expect(found("b/small", aliases)).toBe("all-minilm-l6-v2");
    for (const asked of ["small", "c/small"]) expect(() => found(asked, aliases)).toThrow("does not serve");
  });

  it.each([
    ["the name of a model", { "bge-small": "all-minilm-l6-v2" }],
    ["the name of a model in capitals", { "BGE-small": "all-minilm-l6-v2" }],
    ["a model that is not served", { ada: "other" }],
    ["an entry without a model", aliasesFromEnv({ MODEL_ALIASES: "ada" })],
    ["a version", { "ada@1": "bge-small" }],
    ["an entry of two models", aliasesFromEnv({ MODEL_ALIASES: "ada=bge-small,ada=all-minilm-l6-v2" })],
    ["an entry with two signs", aliasesFromEnv({ MODEL_ALIASES: "ada=bge-small=b" })],
    ["a list", ["ada", "bge-small"]],
    ["a Map", new Map([["ada", "bge-small"]])],
    ["a text", "ada=bge-small"],
  ])("refuse %s as an alias when the app is made", (_, aliases) => {
    const create = () =>
      createEdgeApp({
        models: {} as never,
        model: NAMES,
        aliases: aliases as never,
        engine: taskEngine(embed),
        keys: ["k"],
      });
    expect(create).toThrow(expect.objectContaining({ code: "setting_invalid" }));
  });

  it.each([
    "",
    "BGE-small",
    "org/bge-small",
    "bge-small@0123456789ab",
    "a,b",
    7,
    undefined,
    null,
    [],
    ["bge-small", ""],
  ])("are refused when the app is made if one is %j", (model) => {
    const options = { models: {} as never, model: model as never, engine: taskEngine(embed), keys: ["k"] };
    expect(() => createEdgeApp(options)).toThrow(expect.objectContaining({ code: "setting_invalid" }));
  });

  it.each([{ trnucate: true }, { truncation: "left" }])("have no defaults such as %j", (defaults) => {
    const options = { models: {} as never, model: NAMES, engine: taskEngine(embed), keys: ["k"] };
    expect(() => createEdgeApp({ ...options, defaults: defaults as never })).toThrow(
      expect.objectContaining({
        code: "setting_invalid",
        message: expect.stringContaining(Object.keys(defaults)[0] ?? ""),
      }),
    );
  });

  it("are read from a variable", () => {
    expect(aliasesFromEnv({ MODEL_ALIASES: "ada = bge-small, b/c=all-minilm-l6-v2," })).toEqual({
      ada: "bge-small",
      "b/c": "all-minilm-l6-v2",
    });
    expect(aliasesFromEnv({})).toEqual({});
  });
});

errorLog();

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const bodies: Readonly<Record<string, object>> = {
  "/v1/embed": { inputs: "a" },
  "/v1/embeddings": { input: "a" },
  "/embeddings": { input: "a" },
  "/v2/embed": { texts: ["a"] },
  "/v1/rerank": { query: "a", documents: ["a"] },
  "/v2/rerank": { query: "a", documents: ["a"] },
  "/v1/similarity": { source: "a", texts: ["a"] },
  "/embed": { inputs: "a" },
  "/rerank": { query: "a", texts: ["a"] },
  "/": { inputs: "a" },
  "/similarity": { inputs: { source_sentence: "a", sentences: ["a"] } },
  "/tokenize": { inputs: "a" },
  "/decode": { ids: [101, 102] },
};
/** Routes whose clients always name a model. */
const naming = ["/v1/embeddings", "/embeddings", "/v2/embed", "/v2/rerank"];

async function setUp(model: string | readonly string[]) {
  const options = { models: await taskStore(embed), keys: ["k"], log: false, engine: taskEngine(embed) } as const;
  const aliases = { "text-embedding-3-small": TINY.name };
  const app = createEdgeApp({ ...options, model, aliases });
  const region = createRegionApp({ ...options, model, aliases });
  const headers = { authorization: "Bearer k", "content-type": "application/json" };
  const post = async (path: string, body: object) => app.request(path, post.init(body));
  post.init = (body: object) => ({ method: "POST", headers, body: JSON.stringify(body) });
  const get = (path: string) => app.request(path, { headers });
  return { post, get, region };
}

describe.each(Object.entries(bodies))("POST %s", (path, body) => {
  it("needs no model if one is served", async () => {
    const { post, region } = await setUp(TINY.name);
    for (const model of [{}, { model: null }, { model: "text-embedding-3-small" }, { model: `x/${TINY.name}` }]) {
      expect((await post(path, { ...body, ...model })).status).toBe(200);
      expect((await region.request(path, post.init({ ...body, ...model }))).status).toBe(200);
    }
  });

  it("uses the model that a body names, and refuses one that is not served", async () => {
    const { post } = await setUp(TINY.name);
    const response = await post(path, { ...body, model: "third" });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("serve the model")]);
  });

  it("names the models if a client that always names one does not", async () => {
    const { post } = await setUp([TINY.name, "second"]);
    const response = await post(path, body);
    expect(response.status).toBe(naming.includes(path) ? 400 : 200);
    if (naming.includes(path)) {
      expect(await response.text()).toMatch(/"tiny.*second.*text-embedding-3-small/);
      expect((await post(`/models/${TINY.name}${path}`, body)).status).toBe(200);
    }
  });
});

describe("GET /v1/models", () => {
  it("describes each name, as OpenAI does", async () => {
    const { get } = await setUp([TINY.name, "second"]);
    const { data } = (await (await get("/v1/models")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual([TINY.name, "second", "text-embedding-3-small"]);
    for (const model of data) expect(await (await get(`/v1/models/${model.id}`)).json()).toEqual(model);
    for (const path of ["org/Second", "org%2FSecond", "second/"])
      expect(await (await get(`/v1/models/${path}`)).json()).toMatchObject({ id: "second", object: "model" });
    const unknown = await get("/v1/models/org/third");
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({
      error: { code: "model_unknown", message: expect.stringContaining("second") },
    });
  });

  it("names the model of the path, for clients whose base URL has it", async () => {
    const { get } = await setUp([TINY.name, "second"]);
    const list = async (path: string) => (await (await get(path)).json()) as { data: { id: string }[] };
    for (const path of ["/models/second/v1/models", "/models/org%2FSecond/v1/models/"])
      expect((await list(path)).data.map(({ id }) => id)).toEqual(["second"]);
    expect((await get("/models/third/v1/models")).status).toBe(404);
  });
});

it("GET /info describes the model of the path", async () => {
  const { get } = await setUp(["second", TINY.name]);
  expect(await (await get(`/models/${TINY.name}/info`)).json()).toMatchObject({ model_id: TINY.name });
  expect((await get("/models/third/info")).status).toBe(404);
});
