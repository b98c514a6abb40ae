import { describe, expect, it } from "vitest";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { JSON_TOKENIZER, tinyArtifact } from "#test/fixtures/tiny-model.ts";
import { loadTokenizer } from "./load-tokenizer.ts";

describe("loadTokenizer, with a tokenizer.json", () => {
  const load = async (changed: Record<string, string>) => {
    const { manifest, read } = await tinyArtifact("tiny", { tokenizer: JSON_TOKENIZER });
    return loadTokenizer(manifest, async (file) => (changed[file] ? bytesOf(changed[file]) : read(file)));
  };

  it("encodes like the packed tokenizer of the same model", async () => {
    const { manifest, read } = await tinyArtifact();
    expect(manifest.tokenizer.kind).toBe("packed");
    const [json, packed] = [await load({}), await loadTokenizer(manifest, read)];
    for (const text of ["To be, or not to be", "an unaffable wheel", ""]) {
      expect(json.encode(text, 16)).toEqual(packed.encode(text, 16));
    }
    expect([...json.encode("to be", 16).ids]).toEqual([101, 2000, 2022, 102]);
  });

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

  it("refuses token ids that the model does not have", async () => {
    const { manifest, read } = await tinyArtifact("tiny", { tokenizer: JSON_TOKENIZER });
    const refused = loadTokenizer({ ...manifest, vocabulary: 30_521 }, read);
    await expect(refused).rejects.toMatchObject({
      code: "tokenizer_invalid",
      message: expect.stringContaining("the token id 30521 is not in the model's vocabulary of 30521"),
    });
  });

  it("leaves the errors of reading as they are", async () => {
    const { manifest } = await tinyArtifact("tiny", { tokenizer: JSON_TOKENIZER });
    const broken = new Error("no disk");
    await expect(loadTokenizer(manifest, () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
