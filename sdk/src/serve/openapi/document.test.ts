import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import type { Task } from "../../artifact/manifest.ts";
import { once } from "../../artifact/once.ts";
import { dialects, shownRoutes } from "../dialects/index.ts";
import { createEdgeApp } from "../edge-app.ts";

errorLog();

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const classify: Task = { task: "classify", input: "text", labels: ["no", "yes"] };
const crossEncoder: Task = { task: "classify", input: "pair", labels: ["LABEL_0"] };
const tasks: Readonly<Record<string, Task>> = {
  "/v1/answer": { task: "answer" },
  "/v1/classify": classify,
  "/predict": classify,
  "/v1/fill-mask": { task: "fill-mask", mask: { id: 103, token: "[MASK]" } },
  "/v1/rerank": crossEncoder,
  "/rerank": crossEncoder,
  "/v1/sparse": { task: "sparse" },
  "/embed_sparse": { task: "sparse" },
  "/v1/tag": { task: "tag", labels: ["O", "PER"] },
  "/v1/token-vectors": { task: "token-vectors", dimensions: 4 },
  "/embed_all": { task: "token-vectors", dimensions: 4 },
};

interface Operation {
  readonly requestBody: {
    readonly content: { readonly "application/json": { readonly schema: object; readonly example: object } };
  };
  readonly responses: Readonly<
    Record<string, { readonly content: { readonly "application/json": { readonly schema: object } } }>
  >;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, { readonly post?: Operation; readonly get?: object }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Makes an app that serves a model for a route's task, and reads its document. */
async function setUp(path: string) {
  const task = tasks[path] ?? embed;
  // The examples name this model.
  const app = createEdgeApp({
    models: await taskStore(task, 64),
    model: TINY.name,
    keys: ["k"],
    engine: taskEngine(task),
  });
  await waitFor(async () => expect((await app.request("/ready")).status).toBe(200));
  const document = (await (await app.request("/openapi.json")).json()) as Document;
  const { post } = document.paths[path] as { post: Operation };
  const post_ = (body: unknown) =>
    app.request(path, {
      method: "POST",
      headers: { authorization: "Bearer k", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ $id: "document", components: document.components });
  const validators = Object.entries(post.responses).map(([status, { content }]) => {
    const schema = JSON.stringify(content["application/json"].schema).replaceAll(
      "#/components",
      "document#/components",
    );
    return [Number(status), once(() => ajv.compile(JSON.parse(schema) as object))] as const;
  });
  const validatorOf = new Map(validators);
  /** Returns what is wrong with a response, by the document. */
  async function faultsOf(response: Response): Promise<string> {
    const validate = validatorOf.get(response.status)?.();
    if (!validate) return `status ${response.status} is not described`;
    return validate(await response.json()) ? "" : ajv.errorsText(validate.errors);
  }
  return { operation: post, send: post_, faultsOf };
}

const named = (example: object): object => ("model" in example ? { ...example, model: TINY.name } : example);
const paths = shownRoutes(dialects).map(({ path }) => path);

describe("GET /openapi.json", () => {
  it("describes every route of the table, needs no key and names no model", async () => {
    const app = createEdgeApp({
      models: await taskStore(embed),
      model: "secret-name",
      keys: ["k"],
      engine: taskEngine(embed),
    });
    const response = await app.request("/openapi.json");
    const text = await response.text();
    expect(text).not.toContain("secret-name");
    const document = JSON.parse(text) as Document;
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([...paths, "/health", "/ready", "/info"]));
  });

  it.each(paths)("has an example of POST %s that is answered as described", async (path) => {
    const { operation, send, faultsOf } = await setUp(path);
    const response = await send(named(operation.requestBody.content["application/json"].example));
    expect([response.status, await faultsOf(response)]).toEqual([200, ""]);
  });

  it.each(paths)("describes what POST %s answers to damaged bodies", async (path) => {
    const { operation, send, faultsOf } = await setUp(path);
    const { example, schema } = operation.requestBody.content["application/json"];
    const names = Object.keys((schema as { properties: object }).properties);
    const body = fc
      .record({ name: fc.constantFrom(...names), value: fc.oneof(fc.jsonValue(), fc.constant(undefined)) })
      .map(({ name, value }) => ({ ...named(example), [name]: value }));
    const statuses = new Set<number>();
    await fc.assert(
      fc.asyncProperty(body, async (damaged) => {
        const response = await send(damaged);
        statuses.add(response.status);
        expect([response.status, await faultsOf(response)]).toEqual([expect.toSatisfy((status) => status < 500), ""]);
      }),
      seeded(runs(8, 30)),
    );
    expect([...statuses].some((status) => status >= 400)).toBe(true);
  });
});

describe("GET /docs", () => {
  it("shows the document, and loads nothing from elsewhere", async () => {
    const app = createEdgeApp({
      models: await taskStore(embed),
      model: TINY.name,
      keys: ["k"],
      engine: taskEngine(embed),
    });
    const response = await app.request("/docs");
    expect(response.headers.get("content-type")).toMatch("text/html");
    const page = await response.text();
    expect(page).toContain('fetch("openapi.json")');
    expect(page).not.toMatch(/https?:/);
  });
});
