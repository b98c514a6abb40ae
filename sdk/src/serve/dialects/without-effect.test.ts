import { expect, it } from "vitest";
import { withoutEffect } from "#test/docs/fields-table.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { once } from "../../artifact/once.ts";
import { createEdgeApp } from "../edge-app.ts";
import { dialects, routesOf } from "./index.ts";

const fields = Object.entries(withoutEffect).flatMap(([path, reasons]) =>
  Object.keys(reasons).map((field) => [path, field]),
);

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const app = once(async () =>
  createEdgeApp({ models: await taskStore(embed, 64), model: TINY.name, keys: false, engine: taskEngine(embed) }),
);

it.each(fields)("POST %s answers the same with the field %s", async (path = "", field = "") => {
  const example = routesOf(dialects).find((route) => route.path === path)?.example as object;
  const body = { ...example, ...("model" in example && { model: TINY.name }) };
  const ask = async (sent: object) => {
    const headers = { "content-type": "application/json", "x-request-id": "same" };
    const response = await (await app()).request(path, { method: "POST", headers, body: JSON.stringify(sent) });
    return { status: response.status, json: await response.json() };
  };
  const [outer = "", inner] = field.split(".");
  const expected = await ask(body);
  expect(expected.status).toBe(200);
  expect(await ask({ ...body, [outer]: inner ? { [inner]: "x" } : "x" })).toEqual(expected);
});
