import { beforeAll, describe, expect, it } from "vitest";
import { taskEngine, taskStore } from "#test/fixtures/task-model.ts";
import { TINY } from "#test/fixtures/tiny-model.ts";
import type { Task } from "../../artifact/manifest.ts";
import { openPublished, readPointer } from "../../storage/published-artifact.ts";
import { idsOf, pooledFromOf } from "../engine/token-sequence.ts";
import type { Model } from "../model.ts";
import { startModel } from "../start-model.ts";
import { embedCall } from "./embed.ts";
import { withoutPrompt } from "./prompt.ts";
import { rerankCall } from "./rerank.ts";
import type { TaskCall } from "./task-call.ts";

const pooled: Task = {
  ...{ task: "embed", pooling: "mean", normalize: true, dimensions: 8 },
  prompts: { query: "to find: " },
};
const unpooled: Task = { ...pooled, poolsPrompt: false };

const modelOf = async (task: Task) => {
  const store = await taskStore(task, 24);
  return startModel(await openPublished(store, await readPointer(store, TINY.name)), taskEngine(task));
};

/** Returns where the pooling of each sequence of a call begins. */
const pooledFrom = (model: Model, call: TaskCall<unknown>) =>
  model.encode(call.on(model.manifest)).sequences.map(pooledFromOf);

describe("prompts that are not pooled", () => {
  let model: Model;
  let promptTokens = 0;
  beforeAll(async () => {
    model = await modelOf(unpooled);
    // Without [SEP].
    promptTokens = model.tokenizer.encode("to find: ", 24).ids.length - 1;
  });

  it("are left out of the pooling of embeddings", () => {
    expect(pooledFrom(model, embedCall(["to be", "a"], { promptName: "query" }))).toEqual([promptTokens, promptTokens]);
    expect(pooledFrom(model, embedCall(["to be"]))).toEqual([0]);
    expect(pooledFrom(model, embedCall([[101, 102]], { promptName: "query" }))).toEqual([0]);
  });

  it("are left out only in the first chunk of a text", () => {
    const text = "to be or not to be ".repeat(5);
    const [first, ...others] = pooledFrom(model, embedCall([text], { promptName: "query", poolChunks: true }));
    expect(first).toBe(promptTokens);
    expect(others.length).toBeGreaterThan(0);
    expect(others.every((from) => from === 0)).toBe(true);
  });

  it("are refused if they leave no room for a text", async () => {
    const long = await modelOf({ ...unpooled, prompts: { query: "to be or not to be ".repeat(9) } });
    for (const options of [{ poolChunks: true }, { truncate: true }]) {
      await expect(long.call(embedCall(["to be"], { promptName: "query", ...options }))).rejects.toMatchObject({
        code: "input_too_long",
        message: expect.stringContaining("no token of a text is left"),
      });
    }
  });

  it("are left out of the query of a search", () => {
    expect(pooledFrom(model, rerankCall("to be", ["a", "b"]))).toEqual([0, 0, promptTokens]);
  });

  it("change the vectors", async () => {
    const texts = ["to be", "a"];
    const other = await modelOf(pooled);
    const [of, ofOther] = [
      await model.call(embedCall(texts, { promptName: "query" })),
      await other.call(embedCall(texts, { promptName: "query" })),
    ];
    expect(of).not.toEqual(ofOther);
    expect(await model.call(embedCall(texts))).toEqual(await other.call(embedCall(texts)));
    expect(pooledFrom(other, embedCall(texts, { promptName: "query" }))).toEqual([0, 0]);
  });

  it("leave at least one token", () => {
    const [sequence] = withoutPrompt([Int32Array.of(1, 2, 3)], 9);
    expect([idsOf(sequence as object as Int32Array<ArrayBuffer>).length, pooledFromOf(sequence as never)]).toEqual([
      3, 2,
    ]);
  });
});
