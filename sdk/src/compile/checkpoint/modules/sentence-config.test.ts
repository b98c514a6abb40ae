import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { readPrompts } from "./sentence-config.ts";

async function promptsIn(content: unknown) {
  const folder = await temporaryFolder();
  if (content !== undefined)
    await writeFile(join(folder, "config_sentence_transformers.json"), JSON.stringify(content));
  return readPrompts(folder);
}

describe("readPrompts", () => {
  it.each([
    ["no file", undefined, {}],
    ["a file without prompts", { __version__: {} }, {}],
    ["empty prompts, as sentence-transformers writes them", { prompts: { query: "", document: "" } }, {}],
    [
      "empty prompts with other names",
      { prompts: { query: "", passage: "" } },
      { prompts: { query: "", document: "", passage: "" } },
    ],
    [
      "prompts, of which those of a search are empty if they are not named",
      { prompts: { query: "query: ", web: null } },
      { prompts: { query: "query: ", document: "", web: "" } },
    ],
    [
      "a default prompt",
      { prompts: { query: "query: " }, default_prompt_name: "query" },
      { prompts: { query: "query: ", document: "" }, defaultPrompt: "query" },
    ],
    [
      "an empty default prompt beside others",
      { prompts: { query: "query: " }, default_prompt_name: "document" },
      { prompts: { query: "query: ", document: "" }, defaultPrompt: "document" },
    ],
    ["an empty default prompt", { prompts: { document: "" }, default_prompt_name: "document" }, {}],
    ["null", { prompts: null, default_prompt_name: null }, {}],
  ])("reads %s", async (_, content, expected) => {
    expect(await promptsIn(content)).toEqual(expected);
  });

  it("refuses a default prompt that does not exist, and names those that do", async () => {
    await expect(promptsIn({ prompts: { query: "q: " }, default_prompt_name: "other" })).rejects.toMatchObject({
      code: "checkpoint_invalid",
      hint: expect.stringContaining("query"),
    });
  });
});
