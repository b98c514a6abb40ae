import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { loadModel } from "../../local/load-model.ts";

describe("bert-edge batch", () => {
  let folder: string;
  let model: string;
  beforeAll(async () => {
    model = await preparedTiny();
  });
  beforeEach(async () => {
    folder = await temporaryFolder();
    await writeFile(join(folder, "in.jsonl"), '"to be"\n');
  });

  it("reads stdin, embeds with the given artifact, and writes what loadModel computes", async () => {
    const out = join(folder, "stdin.jsonl");
    const stdin = '{"id": "a", "text": "to be"}\n"or not"\n{"id": "b"}\n';
    const batch = (stdin: string, ...args: string[]) =>
      runCommandLine(["batch", "-", out, "--model", model, ...args], { stdin });
    const first = await batch(stdin);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("2 of 3 records embedded with tiny@") });
    expect(first.stdout).toContain("Set aside: 1.");
    await using loaded = await loadModel(model);
    const { embeddings } = await loaded.embed(["to be", "or not"]);
    const lines = (await readFile(out, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { embedding: number[] });
    expect(lines).toMatchObject([{ line: 1, id: "a" }, { line: 2 }]);
    expect(lines.map(({ embedding }) => Float32Array.from(embedding))).toEqual(embeddings);

    const more = await batch(`${stdin}"more"\n`, "--json");
    expect(JSON.parse(more.stdout)).toMatchObject({ resumed: 3, counts: { records: 4, embedded: 3 } });
    const other = await batch(stdin.toUpperCase());
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("Error job_changed") });
    expect(other.stderr).toContain("--restart");
  });

  it.each([
    ["no input", ["nothing.jsonl", "x.jsonl"], "data_missing"],
    ["the input as output", ["in.jsonl", "in.jsonl"], "setting_invalid"],
    ["an output in no folder", ["in.jsonl", "no/x.jsonl"], "out_unwritable"],
  ])("refuses %s", async (_, paths, code) => {
    const { code: exit, stderr } = await runCommandLine(["batch", ...paths, "--model", model], { cwd: folder });
    expect([exit, stderr]).toEqual([1, expect.stringContaining(`Error ${code}`)]);
  });

  it("says when the results cannot be written", async () => {
    await mkdir(join(folder, "blocked.rejected.jsonl"));
    const refused = await runCommandLine(["batch", "in.jsonl", "blocked.jsonl", "--model", model], { cwd: folder });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Error out_unwritable")]);
  });

  it("asks for a model in a folder that has none", async () => {
    const { code, stderr } = await runCommandLine(["batch", "in.jsonl", "x.jsonl"], { cwd: folder });
    expect([code, stderr]).toEqual([1, expect.stringContaining("--model")]);
  });
});
