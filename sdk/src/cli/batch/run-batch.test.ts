import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import type { ChunkModel } from "../../bulk/embed-chunk.ts";
import type { JobSettings } from "./journal.ts";
import { type BatchOptions, runBatch } from "./run-batch.ts";

/** Records of the input: a few chunks, with lines that are set aside and lines of white space. */
const RECORDS = 2_000;

const input = Array.from({ length: RECORDS }, (_, i) => {
  if (i % 97 === 5) return "not JSON";
  if (i % 101 === 7) return "";
  return JSON.stringify({ id: `r${i}`, text: i % 20 === 0 ? "the same text" : `text ${i}` });
}).join("\n");

const settings: JobSettings = { model: "letters@1", engine: "edge on wasm", format: "base64", truncate: false };

let folder: string;
let out: string;
/** Texts that were embedded. */
let embedded: number;
beforeEach(async () => {
  folder = await temporaryFolder();
  out = join(folder, "out.jsonl");
  embedded = 0;
});

class Killed extends Error {}

/** Processes that run one job at once can also fail to replace the journal, because the other one has. */
const isExpected = (error: unknown) =>
  error instanceof Killed || (error instanceof BertEdgeError && error.code === "out_unwritable");

/** A vector depends on all texts of its call, as with dynamic quantization: chunks must be the same in every run. */
const model = (killAfter = Number.POSITIVE_INFINITY): ChunkModel => ({
  name: "letters",
  maxTokens: 100,
  countTokens: (text) => text.length,
  async embed(texts) {
    embedded += texts.length;
    if (embedded > killAfter) throw new Killed();
    const all = texts.join().length;
    return texts.map((text) => Float32Array.of(text.length, all));
  },
});

/** The bytes of a file in pieces of random sizes. */
async function* pieces(content: string, seed = 1): AsyncGenerator<Uint8Array> {
  const random = randomNumbers(seed);
  const bytes = new TextEncoder().encode(content);
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * 5_000);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const run = (changes: Partial<BatchOptions> = {}) =>
  runBatch({
    input: pieces(input),
    inputName: "in.jsonl",
    out,
    model: model(),
    settings,
    restart: false,
    onProgress: () => {},
    journalMs: 0,
    ...changes,
  });

const results = async (file = out) => [
  await readFile(file, "utf8"),
  await readFile(file.replace(".jsonl", ".rejected.jsonl"), "utf8"),
];

describe("runBatch", () => {
  it("writes every record once, in order, and sets the others aside", async () => {
    const report = await run();
    const [lines = "", rejected = ""] = await results();
    const numbers = (content: string) =>
      content
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { line: number }).line);
    const expected = input.split("\n").map((line, i) => [line, i + 1] as const);
    expect(numbers(lines)).toEqual(expected.filter(([line]) => line.startsWith("{")).map(([, i]) => i));
    expect(numbers(rejected)).toEqual(expected.filter(([line]) => line === "not JSON").map(([, i]) => i));
    expect(report).toMatchObject({ resumed: 0, counts: { lines: RECORDS, embedded: numbers(lines).length } });
  });

  it("continues after kills at random points, with the same files as one run", async () => {
    await run();
    const whole = await results();
    const random = randomNumbers(7);
    for (let round = 0; round < runs(2, 5); round++) {
      out = join(folder, `killed-${round}.jsonl`);
      let kills = 0;
      for (let isDone = false; !isDone; ) {
        embedded = 0;
        const options = {
          input: pieces(input, kills),
          model: model(random() * RECORDS),
          journalMs: random() < 0.5 ? 0 : 1e6,
        };
        isDone = await run(options).then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof Killed)) throw error;
            return false;
          },
        );
        if (isDone) break;
        kills++;
        // A kill can also leave a part of what was written after the last entry in the journal.
        await appendFile(out, '{"line":17,"embedd');
      }
      expect(await results(out)).toEqual(whole);
      if (round === 0) expect(kills).toBeGreaterThan(0);
    }
  });

  it("is the same when two processes run it at once, whether or not one of them is killed", async () => {
    await run();
    const whole = await results();
    for (const killAfter of [100, 700, 1_500, Number.POSITIVE_INFINITY]) {
      out = join(folder, `together-${killAfter}.jsonl`);
      embedded = 0;
      const killed = model(killAfter);
      const both = await Promise.allSettled([run(), run({ input: pieces(input, 2), model: killed })]);
      const failures = both.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason as unknown);
      expect(failures.filter((reason) => !isExpected(reason))).toEqual([]);
      await run();
      expect(await results()).toEqual(whole);
    }
  });

  it("embeds nothing again when a job is complete, and only new lines when the input has grown", async () => {
    await run();
    const counts = { ...(await run()).counts };
    embedded = 0;
    const again = await run();
    expect([embedded, again.counts, again.resumed]).toEqual([0, counts, counts.records]);
    await expect(run({ input: pieces(`${input}, and more`) })).rejects.toMatchObject({ code: "job_changed" });
    const report = await run({ input: pieces(`${input}\n"more"\n`) });
    expect([embedded, report.counts.embedded]).toEqual([1, counts.embedded + 1]);
  });

  it("has no file for records that were set aside if there are none", async () => {
    const report = await run({ input: pieces('"a"') });
    expect(report.rejectedFile).toBeUndefined();
    await expect(readFile(out.replace(".jsonl", ".rejected.jsonl"))).rejects.toThrow("ENOENT");
    expect((await run({ input: pieces('"a"') })).counts.records).toBe(1);
  });

  it.each([
    ["another model version", { settings: { ...settings, model: "letters@2" } }, "`model` letters@1"],
    ["another engine", { settings: { ...settings, engine: "regional-cpu on cpu" } }, "`engine`"],
    ["another format", { settings: { ...settings, format: "float" as const } }, "`format`"],
    ["another input", { input: pieces(input.replace("text 1", "text x")) }, "have changed"],
    ["a shorter input", { input: pieces(input.slice(0, 1000)) }, "is shorter"],
  ])("refuses to continue with %s, and leaves the results as they are", async (_, changes, message) => {
    await run();
    const before = await results();
    await expect(run(changes)).rejects.toMatchObject({
      code: "job_changed",
      message: expect.stringContaining(message),
    });
    expect(await results()).toEqual(before);
  });

  it("refuses results that were changed, that are too short, or that have no journal", async () => {
    await run();
    const [content = ""] = await results();
    await writeFile(out, content.replace('"line":1,', '"line":2,'));
    await expect(run()).rejects.toMatchObject({ message: expect.stringContaining("was changed") });
    await truncate(out, 100);
    await expect(run()).rejects.toMatchObject({ message: expect.stringContaining("is shorter") });
    await writeFile(out.replace(".jsonl", ".journal.json"), "{}");
    await expect(run()).rejects.toMatchObject({ code: "job_changed" });
    out = join(folder, "other.jsonl");
    await writeFile(out, "something");
    await expect(run()).rejects.toMatchObject({ message: expect.stringContaining("is missing") });
    expect(await readFile(out, "utf8")).toBe("something");
    expect((await run({ restart: true })).resumed).toBe(0);
    expect((await results())[0]).toBe(content);
  });

  it("reports the bytes of the input that are done", async () => {
    const done: number[] = [];
    await run({ onProgress: (bytes) => done.push(bytes) });
    expect(done[0]).toBe(0);
    expect(done.at(-1)).toBe(new TextEncoder().encode(input).length);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
  });

  it("keeps a file with the name of the rejected records that no journal describes", async () => {
    const file = out.replace(".jsonl", ".rejected.jsonl");
    await writeFile(file, "precious\n");
    await expect(run()).rejects.toMatchObject({ code: "job_changed", message: expect.stringContaining(file) });
    expect(await readFile(file, "utf8")).toBe("precious\n");
  });

  it.each([
    { records: 1e308 },
    { lines: 2 ** 53 },
    { lines: 1_000_000 },
    { records: 1_999, embedded: 1_999 },
    { truncated: 1_999 },
    { rejected: 1_000_000, records: 1_000_000 },
  ])("refuses a journal with the counts %j", async (wrong) => {
    await run();
    const file = out.replace(".jsonl", ".journal.json");
    const journal = JSON.parse(await readFile(file, "utf8"));
    await writeFile(file, JSON.stringify({ ...journal, counts: { ...journal.counts, ...wrong } }));
    await expect(run()).rejects.toMatchObject({ code: "job_changed", message: expect.stringContaining("counts") });
  });
});
