import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bertEdge, startBertEdge } from "./fixtures/bert-edge-command.ts";
import { preparedTiny } from "./fixtures/prepared-tiny.ts";
import { randomNumbers } from "./fixtures/seeded.ts";

const RECORDS = 20_000;
const POLL_MS = 2;

let folder: string;
let input: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-batch-"));
  input = join(folder, "in.jsonl");
  await cp(await preparedTiny(), join(folder, "models/tiny"), { recursive: true });
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
    expect(counts).toEqual({ lines: RECORDS, records: RECORDS, embedded: RECORDS - 20, truncated: 0, rejected: 20 });
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
});
