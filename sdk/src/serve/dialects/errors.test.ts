import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { errorLog } from "#test/fixtures/error-log.ts";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import { once } from "../../artifact/once.ts";
import { memoryStore } from "../../storage/memory.ts";
import { createEdgeApp } from "../edge-app.ts";
import { cohere } from "./cohere.ts";
import { dialects } from "./index.ts";
import { openAi } from "./openai.ts";
import { own } from "./own.ts";

errorLog();

const embed = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 } as const;
const MAX_BODY_BYTES = 2_000;

async function setUp(models = taskStore(embed)) {
  const keys = [{ key: "k" }, { key: "slow", name: "slow", requestsPerMinute: 1 }];
  const jobs = () => undefined;
  const limits = { maxBodyBytes: MAX_BODY_BYTES };
  const options = { models: await models, model: TINY.name, keys, limits, jobs, log: false } as const;
  const app = createEdgeApp({ ...options, engine: taskEngine(embed) });
  return async (
    path: string,
    body: object | undefined,
    { key = "k", method = "POST", ...more } = {} as Record<string, string>,
  ) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", ...more };
    const response = await app.request(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: response.status, json: (await response.json()) as unknown };
  };
}

/** Whether JSON has the form of a schema, and nothing else. */
const isExactly = (schema: v.GenericSchema, json: unknown) => expect(v.parse(schema, json)).toEqual(json);

const routes = dialects.flatMap(({ routes, errorBody, name }) =>
  routes
    .filter(({ isInternal }) => !isInternal)
    .flatMap(({ path, example }) =>
      [path, `${path}/`, `/models/${TINY.name}${path}`].map(
        (at) => [name, at.replace(/\/\/$/, "/"), example as object, errorBody] as const,
      ),
    ),
);

const published = once(() => setUp());
const unpublished = once(() => setUp(Promise.resolve(memoryStore())));

describe("the format of errors", () => {
  it.each(routes)("is that of %s at POST %s", async (name, path, example, errorBody) => {
    const post = await published();
    await post(path, example, { key: "slow" });
    const errors = {
      401: await post(path, example, { key: "wrong" }),
      404: await post(path.startsWith("/models/") ? path.replace(TINY.name, "other") : path, {
        ...example,
        model: "other",
      }),
      405: await post(path, undefined, { method: "PUT" }),
      413: await post(
        path,
        { ...example, more: "x".repeat(MAX_BODY_BYTES) },
        { "content-length": `${MAX_BODY_BYTES + 1}` },
      ),
      415: await post(path, example, { "content-type": "text/plain" }),
      429: await post(path, example, { key: "slow" }),
      503: await (await unpublished())(path, example),
      400: await post(path, []),
    };
    for (const [status, answer] of Object.entries(errors)) {
      isExactly(errorBody, answer.json);
      // text-embeddings-inference answers invalid bodies with 422.
      const expected = name === "text-embeddings-inference" && status === "400" ? 422 : Number(status);
      expect(answer).toMatchObject({ status: expected });
    }
  });

  it.each([
    [openAi, "/v1/models"],
    [openAi, "/v1/models/other"],
    [openAi, "/v1/chat/completions"],
    [cohere, "/v2/chat"],
    [own, "/v1/jobs/other"],
    [own, "/info"],
    [own, "/other"],
  ])("is that of a dialect at other paths too", async ({ errorBody }, path) => {
    const ask = await published();
    for (const method of ["GET", "PUT"]) {
      for (const key of ["k", "wrong"]) {
        const { status, json } = await ask(path, undefined, { method, key });
        if (status !== 200) isExactly(errorBody, json);
      }
    }
  });
});
