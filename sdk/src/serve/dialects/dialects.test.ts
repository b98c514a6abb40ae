import { expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { createEdgeApp } from "../edge-app.ts";
import { dialectOf, dialects, shownRoutes } from "./index.ts";

it.each([
  ["/v1/embed", "own"],
  ["/embed", "tei"],
  ["/v2/embed", "cohere"],
  ["/v1/embeddings", "openai"],
  ["/embeddings", "openai"],
  ["/", "hugging-face"],
  ["/models/bert", "hugging-face"],
  // Mounted below a path, and with a slash at the end.
  ["/api/v1/embed/", "own"],
  ["/api/embed/", "tei"],
  ["/models/bert/embed", "tei"],
  // Routes that do not exist.
  ["/v1/other", "openai"],
  ["/v1/models/other", "openai"],
  ["/api/v1/models/", "openai"],
  ["/v1/jobs/other", "own"],
  ["/v2/other", "cohere"],
  ["/other", "own"],
])("answers errors of %s in the dialect %s", (path, dialect) => {
  expect(dialectOf(path).id).toBe(dialect);
});

it.each(shownRoutes(dialects).map((route) => [route.path, route]))(
  "obeys the field model of POST %s",
  async (path, { example }) => {
    const task: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
    const options = { models: await taskStore(task), model: TINY.name, engine: taskEngine(task) };
    const app = createEdgeApp({ ...options, keys: false, log: false });
    const body = JSON.stringify({ ...Object(example), model: "other" });
    const response = await app.request(path, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining("other")]);
  },
);
