import { expect, it } from "vitest";
import { modelFoldersPage } from "./model-folders-page.ts";

it("docs/model-folders.md is the page that the tables of keys give", async () => {
  await expect(modelFoldersPage()).toMatchFileSnapshot("../../docs/model-folders.md");
});
