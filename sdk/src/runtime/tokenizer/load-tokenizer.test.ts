import { describe, expect, it } from "vitest";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { loadTokenizer } from "./load-tokenizer.ts";

describe("loadTokenizer, with a tokenizer.json", () => {
  const load = async (changed: Record<string, string>) => {
    const { manifest, read } = await tinyArtifact();
    return loadTokenizer(manifest, async (file) => (changed[file] ? bytesOf(changed[file]) : read(file)));
  };

  it.each([
    ["tokenizer.json", "{"],
    ["tokenizer.json", "null"],
    ["tokenizer.json", "[]"],
    ["tokenizer.json", '{"of":"weights"}'],
    ["tokenizer.json", '{"model":{"type":"WordPiece"}}'],
    ["tokenizer.json", '{"model":{"type":"Other","vocab":{}}}'],
    ["tokenizer_config.json", "{"],
    ["tokenizer_config.json", "null"],
  ])("refuses a damaged file: %s is %s", async (file, text) => {
    await expect(load({ [file]: text })).rejects.toMatchObject({
      code: "tokenizer_invalid",
      message: expect.stringContaining(file),
      cause: expect.any(Error),
    });
  });

  it("leaves the errors of reading as they are", async () => {
    const { manifest } = await tinyArtifact();
    const broken = new Error("no disk");
    await expect(loadTokenizer(manifest, () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
