import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { loadModel } from "#sdk/local/load-model.ts";
import { bertEdge, startBertEdge } from "./fixtures/bert-edge-command.ts";
import { randomNumbers } from "./fixtures/seeded.ts";
import { writePreparableCheckpoint } from "./fixtures/tiny-bert.ts";

const RECORDS = 40_000;
const POLL_MS = 2;

let folder: string;
let input: string;
let model: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-batch-"));
  input = join(folder, "in.jsonl");
  model = join(folder, "models/tiny");
  await writePreparableCheckpoint(join(folder, "checkpoint"));
  await prepare({ model: join(folder, "checkpoint"), out: model, name: "tiny", targets: ["edge"] });
  const lines = Array.from({ length: RECORDS }, (_, i) =>
    i % 1_000 === 17
      ? "not JSON"
      : JSON.stringify({ id: i, text: i % 100 === 0 ? "the same text" : `house number ${i}` }),
  );
  await writeFile(input, `${lines.join("\n")}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Resolves when a file has this size. */
async function grown(path: string, bytes: number): Promise<void> {
  while ((await stat(path).catch(() => ({ size: 0 }))).size < bytes) await sleep(POLL_MS);
}

const files = (out: string) =>
  Promise.all([out, out.replace(".jsonl", ".rejected.jsonl")].map((path) => readFile(path)));

describe("bert-edge batch", () => {
  it("writes the same files as one run when it is killed at random points and run again", async () => {
    const out = join(folder, "out.jsonl");
    const args = ["batch", input, out, "--format", "base64", "--json"];
    const whole = await bertEdge(args, { cwd: folder });
    expect(whole).toMatchObject({ code: 0, stderr: expect.stringMatching(/✓ embed .*in\.jsonl/) });
    const { counts, model: version } = JSON.parse(whole.stdout) as { counts: object; model: string };
    expect(counts).toEqual({ lines: RECORDS, records: RECORDS, embedded: RECORDS - 40, truncated: 0, rejected: 40 });
    expect(version).toMatch(/^tiny@[0-9a-f]{12}$/);

    const random = randomNumbers(5);
    const killed = join(folder, "killed.jsonl");
    const again = ["batch", input, killed, "--format", "base64", "--json"];
    const { size } = await stat(out);
    for (const share of [0.6, 0.3, 0.9].map((most) => most * random() ** 0.25)) {
      const child = startBertEdge(again, { cwd: folder });
      const closed = once(child, "close");
      await grown(killed, share * size);
      child.kill("SIGKILL");
      expect(await closed).toEqual([null, "SIGKILL"]);
    }
    const last = await bertEdge([...again, "--threads", "2"], { cwd: folder });
    expect(last.code).toBe(0);
    const report = JSON.parse(last.stdout) as { counts: object; resumed: number };
    expect(report.counts).toEqual(counts);
    expect(report.resumed).toBeGreaterThan(0);
    expect(await files(killed)).toEqual(await files(out));
  });

  it("reads stdin, embeds with the given artifact, and writes what loadModel computes", async () => {
    const out = join(folder, "stdin.jsonl");
    const stdin = '{"id": "a", "text": "to be"}\n"or not"\n{"id": "b"}\n';
    const first = await bertEdge(["batch", "-", out, "--model", model], { stdin });
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("2 of 3 records embedded with tiny@") });
    expect(first.stdout).toContain("Set aside: 1.");
    await using loaded = await loadModel(model);
    const vectors = await loaded.embed(["to be", "or not"]);
    const lines = (await readFile(out, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { embedding: number[] });
    expect(lines).toMatchObject([{ line: 1, id: "a" }, { line: 2 }]);
    expect(lines.map(({ embedding }) => Float32Array.from(embedding))).toEqual(vectors);

    const more = await bertEdge(["batch", "-", out, "--model", model, "--json"], { stdin: `${stdin}"more"\n` });
    expect(JSON.parse(more.stdout)).toMatchObject({ resumed: 3, counts: { records: 4, embedded: 3 } });
    const other = await bertEdge(["batch", "-", out, "--model", model], { stdin: stdin.toUpperCase() });
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("Error job_changed") });
    expect(other.stderr).toContain("--restart");
  });

  it.each([
    ["no input", (f: string) => [join(f, "nothing.jsonl"), join(f, "x.jsonl")], "data_missing"],
    ["the input as output", (f: string) => [join(f, "in.jsonl"), join(f, "in.jsonl")], "setting_invalid"],
    ["an output in no folder", (f: string) => [join(f, "in.jsonl"), join(f, "no/x.jsonl")], "out_unwritable"],
  ])("refuses %s", async (_, paths, code) => {
    const { code: exit, stderr } = await bertEdge(["batch", ...paths(folder), "--model", model]);
    expect([exit, stderr]).toEqual([1, expect.stringContaining(`Error ${code}`)]);
  });

  it("says when the results cannot be written, and refuses to write to stdout", async () => {
    const blocked = join(folder, "blocked.jsonl");
    await mkdir(blocked.replace(".jsonl", ".rejected.jsonl"));
    const refused = await bertEdge(["batch", input, blocked, "--model", model]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("Error out_unwritable")]);
    expect(await bertEdge(["batch", input, "-", "--model", model])).toMatchObject({ code: 2 });
  });

  it("asks for a model in a folder that has none", async () => {
    const { code, stderr } = await bertEdge(["batch", input, join(folder, "x.jsonl")], { cwd: tmpdir() });
    expect([code, stderr]).toEqual([1, expect.stringContaining("--model")]);
  });
});
