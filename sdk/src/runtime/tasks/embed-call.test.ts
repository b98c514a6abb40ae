import { describe, expect, it } from "vitest";
import { fakeEngine, TINY, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { startModel } from "../start-model.ts";
import { embedCall } from "./embed.ts";

const LONG = "to be or not to be ".repeat(20);

describe("embedCall of texts and token ids together", () => {
  async function setUp() {
    const model = await startModel(await tinyArtifact(), fakeEngine());
    const ids = [...model.tokenizer.encode("to be", TINY.maxTokens).ids];
    return { model, ids };
  }

  it("refuses a text that is too long", async () => {
    const { model, ids } = await setUp();
    await expect(model.call(embedCall([ids, LONG, "be"]))).rejects.toMatchObject({ code: "input_too_long", index: 1 });
  });

  it("cuts a text as without ids", async () => {
    const { model, ids } = await setUp();
    for (const truncate of ["left", "right"] as const) {
      const texts = await model.call(embedCall(["to be", LONG, "be"], { truncate }));
      expect(await model.call(embedCall([ids, LONG, "be"], { truncate }))).toEqual(texts);
    }
  });

  it("pools the chunks of a text only if the call wants it", async () => {
    const { model, ids } = await setUp();
    const pooled = await model.call(embedCall(["to be", LONG, "be"], { poolChunks: true }));
    expect(await model.call(embedCall([ids, LONG, "be"], { poolChunks: true }))).toEqual(pooled);
  });
});
