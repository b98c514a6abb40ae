import { link, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { inputFile } from "./input-file.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
const at = (name: string) => join(folder, name);

describe("inputFile", () => {
  it.each(["a.jsonl", "a.rejected.jsonl", "a.journal.json", "a.journal.json.tmp"])(
    "refuses %s, which a job with the output a.jsonl would replace",
    async (name) => {
      await writeFile(at(name), "text\n");
      await symlink(at(name), at("symbolic"));
      await link(at(name), at("hard"));
      for (const input of [name, "symbolic", "hard"]) {
        expect(() => inputFile(at(input), at("a.jsonl"))).toThrow(
          expect.objectContaining({
            code: "setting_invalid",
            message: expect.stringContaining(`${at(name)} is the input`),
          }),
        );
      }
    },
  );

  it("takes any other file", async () => {
    for (const name of ["in.jsonl", "a.jsonl", "a.rejected.jsonl"]) await writeFile(at(name), "text\n");
    expect(inputFile(at("in.jsonl"), at("a.jsonl"))).toMatchObject({ name: at("in.jsonl"), size: 5 });
    expect(inputFile(at("a.rejected.jsonl"), at("again.jsonl"))).toMatchObject({ size: 5 });
  });

  it("refuses what is not a file", () => {
    for (const path of [folder, at("absent")]) {
      expect(() => inputFile(path, at("a.jsonl"))).toThrow(expect.objectContaining({ code: "data_missing" }));
    }
  });
});
