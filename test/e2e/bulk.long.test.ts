import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { requireWrangler } from "#sdk/cli/wrangler/installed.ts";
import { loadModel } from "#sdk/local/load-model.ts";
import type { JobStatus } from "#sdk/serve/bulk/job-status.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { preparedTiny } from "../fixtures/prepared-tiny.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

const RECORDS = 10_000;
/** Records with the same text, at every hundredth line. */
const EQUAL = "the same text";
/** A record that is set aside, at these lines. */
const BAD_LINES = [123, 4_567, 9_999];
const POLL_MS = 20;
/** The key of the job is over its limit before the last parts, which wait. */
const KEYS = [{ name: "news", key: "key", textsPerMinute: 3_500 }, "other"];

const input = Array.from({ length: RECORDS }, (_, i) => {
  if (BAD_LINES.includes(i + 1)) return '{"id": "bad"}';
  return JSON.stringify({ id: `record-${i + 1}`, text: i % 100 === 0 ? EQUAL : `where is the house number ${i + 1}?` });
});

let folder: string;
let artifact: string;
let modules: Awaited<ReturnType<typeof workerModules>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bert-edge-bulk-"));
  artifact = await preparedTiny();
  modules = await workerModules({ entryPoints: ["functions/edge.ts"] });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The queues in the comment of wrangler.toml, as wrangler reads them. */
async function commentedQueues() {
  const toml = await readFile("wrangler.toml", "utf8");
  const section = /^# (\[\[queues\.producers\]\]\n(?:#.*\n)+)/m.exec(toml)?.[1] ?? "";
  const config = join(folder, "wrangler.toml");
  await writeFile(config, `name = "bulk"\n${section.replaceAll(/^# ?/gm, "")}`);
  return requireWrangler(process.cwd()).unstable_readConfig({ config }, { hideWarnings: true }).queues;
}

/** Starts the Worker on a bucket that stays when the Worker is killed. Its queue is lost then. */
async function startWorker(bucket: string): Promise<Miniflare> {
  const { producers, consumers } = await commentedQueues();
  const [producer, consumer] = [producers[0], consumers?.[0]];
  return new Miniflare(
    convertV4MiniflareOptions({
      modules,
      modulesRoot: "/",
      compatibilityDate: "2026-11-01",
      bindings: { MODEL: "tiny", API_KEYS: JSON.stringify(KEYS) },
      r2Buckets: ["MODELS"],
      resourcePersistencePath: bucket,
      queueProducers: { [producer?.binding ?? ""]: producer?.queue ?? "" },
      queueConsumers: {
        [consumer?.queue ?? ""]: {
          maxBatchSize: consumer?.max_batch_size ?? 0,
          maxBatchTimeout: 0,
          maxRetries: consumer?.max_retries ?? 0,
          deadLetterQueue: consumer?.dead_letter_queue ?? "",
        },
      },
      handleStructuredLogs: () => {},
    }),
  );
}

const ask = async (worker: Miniflare, method: string, path: string, key = "key") =>
  worker.dispatchFetch(`http://edge/v1/jobs/${path}`, { method, headers: { authorization: `Bearer ${key}` } });

/** Starts the job, and waits until `enough` of its parts are finished, or all. */
async function runUntil(worker: Miniflare, enough: number): Promise<JobStatus> {
  await (await ask(worker, "POST", "big")).text();
  for (;;) {
    const status = (await (await ask(worker, "GET", "big")).json()) as JobStatus;
    if (status.state === "complete" || status.parts >= enough) return status;
    await sleep(POLL_MS);
  }
}

interface Listed {
  list(options: { prefix: string }): Promise<{ objects: { key: string; uploaded: Date }[] }>;
}

/** Lists the parts with the time at which they were written. */
async function partsOf(worker: Miniflare): Promise<string[]> {
  const bucket = (await worker.getR2Bucket("MODELS")) as unknown as Listed;
  const { objects } = await bucket.list({ prefix: "jobs/big/parts/" });
  return objects.map(({ key, uploaded }) => `${key} ${uploaded.toISOString()}`);
}

describe("a job of 10,000 records on Cloudflare Queues, in workerd", () => {
  it("has every record once after the Worker was killed twice, 100 equal texts included", async () => {
    const state = join(folder, "state");
    let worker = await startWorker(state);
    onTestFinished(() => worker.dispose());
    const store = r2Publisher((await worker.getR2Bucket("MODELS")) as unknown as WritableR2Bucket);
    await publish(await openFolder(artifact), store);
    const bytes = new TextEncoder().encode(input.join("\n"));
    await store.put("jobs/big/input.jsonl", bytes, { contentType: "application/jsonl" });

    const finished: string[] = [];
    for (const enough of [8, 22]) {
      const killed = await runUntil(worker, enough);
      expect(killed).toMatchObject({ state: "running" });
      finished.push(...(await partsOf(worker)));
      await worker.dispose();
      worker = await startWorker(state);
    }
    const done = await runUntil(worker, Number.POSITIVE_INFINITY);
    // What was finished before a kill was not written again.
    expect(await partsOf(worker)).toEqual(expect.arrayContaining(finished));
    expect(done).toMatchObject({
      state: "complete",
      parts: Math.ceil(RECORDS / 256),
      counts: { lines: RECORDS, records: RECORDS, embedded: RECORDS - 3, truncated: 0, rejected: 3 },
    });

    const results = (await (await ask(worker, "GET", "big/results")).text()).trim().split("\n");
    const records = results.map((line) => JSON.parse(line) as { line: number; id: string; embedding: number[] });
    const expected = input.map((_, i) => i + 1).filter((line) => !BAD_LINES.includes(line));
    expect(records.map(({ line }) => line)).toEqual(expected);
    expect(records.map(({ id }) => id)).toEqual(expected.map((line) => `record-${line}`));
    const rejected = (await (await ask(worker, "GET", "big/rejected")).text()).trim().split("\n");
    expect(rejected.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(BAD_LINES);

    expect(done.owner).toBe("news");
    for (const path of ["big", "big/results", "big/rejected"]) {
      expect((await ask(worker, "GET", path, "other")).status).toBe(404);
    }
    expect((await ask(worker, "POST", "big", "other")).status).toBe(404);

    await using model = await loadModel(artifact);
    const { embeddings: vectors } = await model.embed([EQUAL, "where is the house number 9998?"]);
    const equal = records.filter(({ line }) => line % 100 === 1);
    expect(equal).toHaveLength(100);
    for (const { embedding } of equal) expect(Float32Array.from(embedding)).toEqual(vectors[0]);
    expect(Float32Array.from(records.at(-2)?.embedding ?? [])).toEqual(vectors[1]);
  });
});
