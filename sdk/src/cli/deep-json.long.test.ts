import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

/** Levels that no recursive function reaches the end of. */
const LEVELS = 20_000;
const deep = {
  lists: "[".repeat(LEVELS) + "]".repeat(LEVELS),
  objects: `${'{"a":'.repeat(LEVELS)}1${"}".repeat(LEVELS)}`,
  normalizers: '{"type":"Sequence","normalizers":['.repeat(LEVELS) + "]}".repeat(LEVELS),
  "pre-tokenizers": '{"type":"Sequence","pretokenizers":['.repeat(LEVELS) + "]}".repeat(LEVELS),
  processors: '{"type":"Sequence","processors":['.repeat(LEVELS) + "]}".repeat(LEVELS),
};

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder, "model"));
  await writePreparableCheckpoint(join(folder, "model"));
});

const run = (...args: readonly string[]) => runCommandLine(args, { cwd: folder, env: { XDG_CACHE_HOME: folder } });

/** Runs commands that read a model folder. Each must refuse it in our words, or do without the part. */
async function expectOurWords(what: string): Promise<void> {
  for (const args of [
    ["inspect", "model"],
    ["prepare", "model", "--out", "out", "--fast", "--targets", "edge"],
  ]) {
    const { code, stdout, stderr } = await run(...args);
    expect(stderr + stdout, what).not.toMatch(/RangeError|call stack|^\s+at .*:\d+:\d+\)?$/m);
    if (code !== 0) expect(stderr, what).toMatch(/Error [a-z_]+: /);
  }
}

describe.each(Object.entries(deep))("deeply nested %s", (_, text) => {
  it("as a JSON file of a model folder", async () => {
    const files = (await readdir(join(folder, "model"))).filter((file) => file.endsWith(".json"));
    for (const file of [...files, "modules.json", "sentence_bert_config.json", "generation_config.json"]) {
      const path = join(folder, "model", file);
      const before = await readFile(path, "utf8").catch(() => "{}");
      await writeFile(path, text);
      await expectOurWords(file);
      await writeFile(path, before);
    }
  });

  it("as a value of a JSON file of a model folder", async () => {
    for (const file of ["config.json", "tokenizer.json", "tokenizer_config.json"]) {
      const path = join(folder, "model", file);
      const before = await readFile(path, "utf8").catch(() => "{}");
      const json = JSON.parse(before) as object;
      const keys = new Set([
        ...Object.keys(json),
        "unknown",
        "normalizer",
        "pre_tokenizer",
        "post_processor",
        "decoder",
      ]);
      for (const key of keys) {
        await writeFile(path, JSON.stringify({ ...json, [key]: "DEEP" }).replace('"DEEP"', text));
        await expectOurWords(`${file} ${key}`);
      }
      await writeFile(path, before);
    }
  });

  it("as a line of golden answers and of a job", async () => {
    await writeFile(join(folder, "g.jsonl"), `{"text":"a","embedding":${text}}\n`);
    const { stderr } = await run("prepare", "model", "--out", "out", "--golden", "g.jsonl");
    expect(stderr).toMatch(/Error data_[a-z]+: /);
    expect(stderr).not.toMatch(/RangeError/);
  });
});
