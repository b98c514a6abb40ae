import { describe, expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { once } from "../../artifact/once.ts";
import { createEdgeApp } from "../edge-app.ts";

const embed: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 8 };
const app = once(async () =>
  createEdgeApp({ models: await taskStore(embed, 12), model: TINY.name, keys: false, engine: taskEngine(embed) }),
);

async function post(path: string, body: object) {
  const headers = { "content-type": "application/json" };
  const response = await (await app()).request(path, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const vectors = async (body: object) => {
  const { json } = await post("/v1/embeddings", body);
  return (json["data"] as { embedding: unknown }[] | undefined)?.map(({ embedding }) => embedding);
};

describe("Jina's body on /v1/embeddings", () => {
  it.each([
    ["a list of objects", [{ text: "to be" }, { text: "or not" }]],
    ["a list of objects and strings", [{ text: "to be" }, "or not"]],
  ])("can have %s", async (_, input) => {
    expect(await vectors({ input })).toEqual(await vectors({ input: ["to be", "or not"] }));
  });

  it("can have one object", async () => {
    expect(await vectors({ input: { text: "to be" } })).toEqual(await vectors({ input: "to be" }));
  });

  it.each([[[{ image: "https://images.test/a.png" }]], [[{ text: "to be", image: "a" }]], [{ url: "a" }], [[{}]]])(
    "is refused with %j",
    async (input) => {
      const { status, json } = await post("/v1/embeddings", { input });
      expect({ status, ...json }).toMatchObject({ status: 400, error: { message: expect.stringContaining("`text`") } });
    },
  );

  it.each(["float", "base64", "binary", "ubinary"])(
    "can name the type %s by both names of Jina's field",
    async (type) => {
      const expected = await vectors({ input: "to be", embedding_type: type });
      expect(await vectors({ input: "to be", encoding_type: type })).toEqual(expected);
      expect(expected).not.toEqual(
        await vectors({ input: "to be", embedding_type: type === "float" ? "binary" : "float" }),
      );
    },
  );
});

it("the hint about `normalized: false` is in Jina's words", async () => {
  const { json } = await post("/v1/embeddings", { input: "to be", normalized: false });
  expect(json["detail"]).toContain("Leave `normalized` out, or set `normalized` to true.");
});

// https://github.com/run-llama/llama_index, https://github.com/deepset-ai/haystack-core-integrations and LangChain show `detail`.
describe("an error that Jina's clients read", () => {
  it.each([
    ["/v1/embeddings", { input: ["to be"], dimensions: 1024 }, "Leave `dimensions` out"],
    ["/v1/rerank", { query: "to be", documents: ["a"], top_n: 0 }, "`top_n`"],
  ])("of %s has message and hint in `detail`", async (path, body, hint) => {
    const { json } = await post(path, body);
    expect(json).toMatchObject({ detail: expect.stringContaining(hint), error: { message: expect.any(String) } });
  });
});
