import { describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { encodeTexts, encodeTextsInSubprocess } from "./encode-texts.ts";

const unlimited = { vocabulary: Number.POSITIVE_INFINITY, maxTokens: undefined };
const oneToken = { vocabulary: 1, maxTokens: undefined };

describe("encodeTextsInSubprocess", () => {
  it("returns the same token ids as in this process", async () => {
    const { folder } = await preparable();
    const ids = await encodeTextsInSubprocess(folder, unlimited, probeTexts);
    expect(ids).toHaveLength(probeTexts.length);
    expect(ids).toEqual(await encodeTexts(folder, unlimited, probeTexts));
  });

  it("refuses a folder without a tokenizer, and the tokenizer of another model", async () => {
    const nowhere = await temporaryFolder();
    await expect(encodeTextsInSubprocess(nowhere, oneToken, ["a"])).rejects.toMatchObject({
      code: "checkpoint_missing",
    });
    const { folder } = await preparable();
    await expect(encodeTexts(folder, oneToken, ["a"])).rejects.toMatchObject({ code: "checkpoint_invalid" });
  });
});
