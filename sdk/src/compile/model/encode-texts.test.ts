import { describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { encodeTexts, encodeTextsInSubprocess } from "./encode-texts.ts";

describe("encodeTextsInSubprocess", () => {
  it("returns the same token ids as in this process", async () => {
    const { folder } = await preparable();
    const ids = await encodeTextsInSubprocess(folder, Number.POSITIVE_INFINITY, probeTexts);
    expect(ids).toHaveLength(probeTexts.length);
    expect(ids).toEqual(await encodeTexts(folder, Number.POSITIVE_INFINITY, probeTexts));
  });

  it("refuses a folder without a tokenizer, and the tokenizer of another model", async () => {
    const nowhere = await temporaryFolder();
    await expect(encodeTextsInSubprocess(nowhere, 1, ["a"])).rejects.toMatchObject({ code: "checkpoint_missing" });
    const { folder } = await preparable();
    await expect(encodeTexts(folder, 1, ["a"])).rejects.toMatchObject({ code: "checkpoint_invalid" });
  });
});
