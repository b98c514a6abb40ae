import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { preparable } from "#test/fixtures/preparable.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { probeTexts } from "../accuracy/probe-texts.ts";
import { encodeInChild } from "./encode-in-child.ts";
import { encodeTexts } from "./encode-texts.ts";

describe("encodeInChild", () => {
  it("makes the same token ids as this process, and leaves no file", async () => {
    const { folder: tokenizer } = await preparable();
    const folder = await temporaryFolder();
    const ids = await encodeInChild(tokenizer, Number.POSITIVE_INFINITY, probeTexts, folder);
    expect(ids).toHaveLength(probeTexts.length);
    expect(ids).toEqual(await encodeTexts(tokenizer, Number.POSITIVE_INFINITY, probeTexts));
    expect(await readdir(folder)).toEqual([]);
  });

  it("refuses a tokenizer that is not there, or another model's", async () => {
    const folder = await temporaryFolder();
    await expect(encodeInChild(folder, 1, ["a"], folder)).rejects.toMatchObject({ code: "checkpoint_missing" });
    const { folder: tokenizer } = await preparable();
    await expect(encodeInChild(tokenizer, 1, ["a"], folder)).rejects.toMatchObject({ code: "checkpoint_invalid" });
  });
});
