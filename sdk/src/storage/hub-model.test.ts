import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { hubModel } from "./hub-model.ts";

const hub = "https://huggingface.co";

describe("hubModel", () => {
  it.each([
    "sentence-transformers/all-MiniLM-L6-v2",
    `${hub}/sentence-transformers/all-MiniLM-L6-v2`,
    `${hub}/sentence-transformers/all-MiniLM-L6-v2/`,
    `${hub}/sentence-transformers/all-MiniLM-L6-v2/tree/main`,
    "https://hf.co/sentence-transformers/all-MiniLM-L6-v2",
  ])("recognizes %s and tells how to download it", (path) => {
    expect(hubModel(path)).toEqual({
      name: "sentence-transformers/all-MiniLM-L6-v2",
      download: {
        command: "hf download sentence-transformers/all-MiniLM-L6-v2 --local-dir ./all-MiniLM-L6-v2",
        folder: "./all-MiniLM-L6-v2",
      },
    });
  });

  it.each(["model", "./nowhere/model", "../nowhere/model", "/nowhere/model", "nowhere/a/b", "https://example.com/a/b"])(
    "takes %s for a path",
    (path) => {
      expect(hubModel(path)).toBeUndefined();
    },
  );

  it("takes a misspelt path in an existing folder for a path", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "models"));
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(folder);
    expect(hubModel("models/defalt")).toBeUndefined();
    expect(hubModel("elsewhere/defalt")).toBeDefined();
    cwd.mockRestore();
  });
});
