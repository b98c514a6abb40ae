import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../edge-app.ts";
import { jsonSchema } from "../openapi/document.ts";
import { dialects, shownRoutes } from "./index.ts";

errorLog();

const tasks: Record<string, Task> = {
  embed: { task: "embed", pooling: "mean", normalize: true, dimensions: 8 },
  classify: { task: "classify", input: "text", labels: ["no", "yes"] },
  sparse: { task: "sparse" },
  tag: { task: "tag", labels: ["O", "B-PER", "I-PER"] },
  answer: { task: "answer" },
  "fill-mask": { task: "fill-mask", mask: { id: 103, token: "[MASK]" } },
  "token-vectors": { task: "token-vectors", dimensions: 4 },
};

interface BodySchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

const routes = shownRoutes(dialects);
const propertiesOf = (route: (typeof routes)[number]) => (jsonSchema(route.schema) as BodySchema).properties ?? {};
const optionalOf = (route: (typeof routes)[number]) => {
  const { properties = {}, required = [] } = jsonSchema(route.schema) as BodySchema;
  return Object.keys(properties).filter((name) => !required.includes(name));
};
const optionalFields = [...new Set(routes.flatMap(optionalOf))];

describe("a field of another route", () => {
  it.each(routes.map((route) => [route.path, route] as const))("is refused by name on POST %s", async (path, route) => {
    const task = tasks[route.task ?? "embed"] as Task;
    const models = await taskStore(task, 64);
    const app = createEdgeApp({
      models,
      model: TINY.name,
      keys: false,
      log: false,
      cpuLimitMs: 1e9,
      engine: taskEngine(task),
    });
    const post = async (body: object) => {
      const headers = { "content-type": "application/json" };
      const response = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
      return { ok: response.ok, text: await response.text() };
    };
    const example = route.example as object;
    expect(await post(example)).toMatchObject({ ok: true });
    const others = optionalFields.filter((name) => !(name in propertiesOf(route)));
    expect(others.length).toBeGreaterThan(10);
    for (const name of others) {
      expect(await post({ ...example, [name]: "x" }), name).toMatchObject({
        ok: false,
        text: expect.stringContaining(name),
      });
      expect(await post({ ...example, [name]: null }), name).toMatchObject({ ok: true });
    }
  });
});

describe("the field `model`", () => {
  it.each(routes.map(({ path, example }) => [path, example] as const))(
    "is obeyed on POST %s",
    async (path, example) => {
      const task = tasks["embed"] as Task;
      const app = createEdgeApp({
        models: await taskStore(task),
        model: TINY.name,
        keys: false,
        log: false,
        engine: taskEngine(task),
      });
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ ...(example as object), model: "other" });
      const response = await app.request(path, { method: "POST", headers, body });
      expect({ status: response.status, text: await response.text() }).toMatchObject({
        status: 404,
        text: expect.stringContaining("does not serve the model"),
      });
    },
  );
});
