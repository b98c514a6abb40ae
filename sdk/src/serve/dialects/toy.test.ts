import { describe, expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { toyDialect } from "#test/fixtures/toy-dialect.ts";
import { toyRoute } from "#test/fixtures/toy-task.ts";
import type { Task } from "../../artifact/manifest.ts";
import { once } from "../../artifact/once.ts";
import { createApp } from "../app.ts";
import { deploymentOf } from "../deployment.ts";
import { dialects } from "./index.ts";
import { own } from "./own.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const known = [{ ...own, routes: [...own.routes, toyRoute] }, ...dialects.slice(1), toyDialect];
const app = once(async () => {
  const models = await taskStore(embed);
  return createApp(deploymentOf({ models, model: TINY.name, keys: ["k"], engine: taskEngine(embed) }), known);
});

async function post(path: string, body: object, key = "k") {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await (await app()).request(path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
}
const vectorOf = async (text: string) =>
  ((await post("/v1/embed", { inputs: text })).json as { embeddings: [number[]] }).embeddings[0];

describe("a task and a dialect of a file and a line each", () => {
  it("are answered, also for a model that the path names", async () => {
    const vector = await vectorOf("to be");
    expect(await post("/v1/toy", { inputs: "to be" })).toMatchObject({
      status: 200,
      json: { model: TINY.name, largest: [expect.closeTo(Math.max(...vector), 5)], usage: { tokens: 4 } },
    });
    for (const path of ["/toy/vectors", `/models/${TINY.name}/toy/vectors/`]) {
      expect(await post(path, { words: ["to be"] })).toEqual({ status: 200, json: [vector] });
    }
  });

  it("answer errors in the form of their dialect, behind the check of keys", async () => {
    const invalid = { error: { code: "request_invalid", hint: expect.any(String) } };
    expect(await post("/v1/toy", { inputs: 1 })).toMatchObject({ status: 400, json: invalid });
    expect(await post("/v1/toy", { inputs: "to be", truncat: true })).toMatchObject({ status: 400, json: invalid });
    const problem = { status: 418, json: { problem: expect.stringContaining("words") } };
    expect(await post("/toy/vectors", { words: 1 })).toEqual(problem);
    expect(await post("/toy/vectors", { words: ["to be"] }, "x")).toMatchObject({ status: 418 });
  });

  it("are described in the OpenAPI document", async () => {
    const { paths, components } = await (await (await app()).request("/openapi.json")).json();
    expect(paths["/v1/toy"].post).toMatchObject({ tags: ["bert-edge"], summary: toyRoute.summary });
    expect(paths["/toy/vectors"].post).toMatchObject({ tags: ["Toy"], responses: { 418: expect.anything() } });
    expect(components.schemas["toy-error"]).toMatchObject({ required: ["problem"] });
  });
});
