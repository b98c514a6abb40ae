import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeJobs, fakeJobs } from "#test/fixtures/fake-jobs.ts";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { fakeEngine, publishTiny, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import type { Truncation } from "../../runtime/truncation.ts";
import type { WritableStore } from "../../storage/store.ts";
import type { CallDefaults } from "../call-defaults.ts";
import { decodeFloats } from "../contract/vector-text.ts";
import { createEdgeApp } from "../edge-app.ts";
import type { EmbeddingsApp } from "../embedding-routes.ts";
import type { JobStatus } from "./job-status.ts";

/** Records of the input. Equal texts are two records. */
const LINES = [
  ...Array.from({ length: 40 }, (_, i) => JSON.stringify({ id: i, text: i % 5 === 0 ? "to be" : `number ${i}` })),
  "",
  "not JSON",
  JSON.stringify({ id: "long", text: "word ".repeat(40) }),
  '"last"',
];
const INPUT = LINES.join("\n");
const EMBEDDED = 41;

let store: WritableStore;
let jobs: FakeJobs;
let app: EmbeddingsApp<object>;
beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  store = await tinyStore();
  jobs = fakeJobs({ "jobs/a/input.jsonl": INPUT });
  app = edge();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const edge = (defaults: CallDefaults = {}, key: CallDefaults = {}) =>
  createEdgeApp({
    models: store,
    model: TINY.name,
    engine: fakeEngine(),
    keys: [{ key: "k", ...key }],
    defaults,
    jobs,
  });

const ask = async (method: string, path: string, body?: object) => {
  const headers = { authorization: "Bearer k", ...(body && { "content-type": "application/json" }) };
  return app.request(`/v1/jobs/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }, {});
};
const start = (body?: object) => ask("POST", "a", body);
const deliver = () => jobs.deliver((batch) => app.queue(batch, {}, { waitUntil: () => {} }));
const status = async (response: Response | Promise<Response> = ask("GET", "a")) =>
  (await (await response).json()) as JobStatus;
const content = async (what: "results" | "rejected") => (await ask("GET", `a/${what}`)).text();
const parts = () => [...jobs.objects.keys()].filter((key) => key.includes("/parts/"));
const failure = async (response: Promise<Response>) => {
  const { status, ...rest } = await response.then(async (r) => ({ status: r.status, ...((await r.json()) as object) }));
  return [status, (rest as { error: { code: string } }).error.code];
};

/** Runs a job to its end, and returns all its lines. */
async function wholeJob(body?: object): Promise<{ results: string; rejected: string }> {
  await start(body);
  await deliver();
  return { results: await content("results"), rejected: await content("rejected") };
}

describe("a job", () => {
  it("embeds every record once, in several parts, and sets the others aside with their reason", async () => {
    const started = await start();
    expect([started.status, await started.json()]).toMatchObject([202, { job: "a", state: "running", parts: 0 }]);
    await deliver();
    expect(parts().length).toBeGreaterThan(10);
    expect(await status()).toMatchObject({
      state: "complete",
      parts: parts().length,
      bytes: INPUT.length,
      totalBytes: INPUT.length,
      counts: { lines: LINES.length, records: EMBEDDED + 2, embedded: EMBEDDED, truncated: 0, rejected: 2 },
    });
    const records = (await content("results"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { line: number });
    expect(records.map(({ line }) => line)).toEqual([...Array.from({ length: 40 }, (_, i) => i + 1), 44]);
    expect(records[0]).toMatchObject({ id: 0, embedding: expect.any(Array) });
    const rejected = (await content("rejected"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rejected).toMatchObject([
      { line: 42, code: "record_invalid" },
      { line: 43, id: "long", code: "input_too_long" },
    ]);
  });

  it("opens no results for HEAD, whose answer nobody reads", async () => {
    await wholeJob();
    const get = vi.spyOn(jobs.bucket, "get");
    const response = await ask("HEAD", "a/results");
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/jsonl",
      "",
    ]);
    expect(get.mock.calls.map(([key]) => key).filter((key) => key.includes("/parts/"))).toEqual([]);
  });

  it("has the vectors that the deployment's route returns", async () => {
    const { results } = await wholeJob({ encoding_format: "base64", truncate: true });
    const records = results
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { embedding: string });
    const { embeddings: vectors } = await app.embed(
      { env: {}, executionCtx: { waitUntil: () => {} } },
      ["to be", "word ".repeat(40)],
      {
        truncate: true,
      },
    );
    expect(decodeFloats(records[5]?.embedding ?? "")).toEqual(vectors[0]);
    expect(decodeFloats(records[40]?.embedding ?? "")).toEqual(vectors[1]);
    expect((await status()).counts).toMatchObject({ embedded: EMBEDDED + 1, truncated: 1, rejected: 1 });
  });

  it.each<[string, CallDefaults, CallDefaults, body: object | undefined, truncate: Truncation]>([
    ["the deployment's default", { truncate: "left" }, {}, undefined, "left"],
    ["the default of the key", { truncate: "left" }, { truncate: "right" }, {}, "right"],
    ["its request", { truncate: true }, {}, { truncate: false }, false],
    ["a side of its request", {}, {}, { truncate: "left" }, "left"],
    ["nothing", {}, {}, undefined, false],
  ])("cuts long texts as %s says", async (_, defaults, key, body, truncate) => {
    const long = `${"to ".repeat(20)}${"be ".repeat(20)}`;
    jobs = fakeJobs({ "jobs/a/input.jsonl": JSON.stringify(long) });
    app = edge(defaults, key);
    const { results, rejected } = await wholeJob(body);
    if (truncate === false) return expect([results, JSON.parse(rejected).code]).toEqual(["", "input_too_long"]);
    const headers = { authorization: "Bearer k", "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify({ inputs: long, truncate }) };
    const { embeddings } = await (await app.request("/v1/embed", request)).json();
    expect(JSON.parse(results).embedding).toEqual(embeddings[0]);
  });

  it("is refused at once if the model embeds no texts", async () => {
    await publishTiny(store, "tags", { task: "tag", labels: ["O", "B-PER"] } as object);
    app = edge();
    const refused = await start();
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: "task_unsupported" } }]);
    expect([...jobs.objects.keys()]).toEqual(["jobs/a/input.jsonl"]);
  });

  it("is the same after kills at random points, whether or not the queue keeps its messages", async () => {
    const whole = await wholeJob();
    const random = randomNumbers(3);
    const rounds = runs(3, 12);
    let kills = 0;
    for (let round = 0; round < rounds; round++) {
      jobs = fakeJobs({ "jobs/a/input.jsonl": INPUT });
      for (let isComplete = false; !isComplete; ) {
        app = edge();
        jobs.killAfter(Math.floor(random() * 60));
        await start();
        await deliver();
        jobs.killAfter(Number.POSITIVE_INFINITY);
        if (random() < 0.5) jobs.messages = [];
        isComplete = (await status()).state === "complete";
        if (!isComplete) kills++;
      }
      expect(await content("results")).toBe(whole.results);
      expect(await content("rejected")).toBe(whole.rejected);
    }
    expect(kills).toBeGreaterThan(rounds);
  });

  it("is not changed by messages that are delivered twice, or by a second start", async () => {
    await start();
    await start();
    const handle: Parameters<FakeJobs["deliver"]>[0] = async (batch) => {
      await app.queue(batch, {}, { waitUntil: () => {} });
      await app.queue(batch, {}, { waitUntil: () => {} });
    };
    await jobs.deliver(handle);
    expect((await status()).counts).toMatchObject({ embedded: EMBEDDED, rejected: 2 });
    const objects = structuredClone([...jobs.objects]);
    const again = await start();
    expect([again.status, jobs.messages]).toEqual([200, []]);
    expect([...jobs.objects]).toEqual(objects);
  });

  it("splits a large input in several messages", async () => {
    const { splitInput } = await import("./split-input.ts");
    const { readJob } = await import("./job.ts");
    const { results } = await wholeJob();
    jobs = fakeJobs({ "jobs/a/input.jsonl": INPUT });
    app = edge();
    await start();
    const job = await readJob(jobs.bucket, "a");
    if (!job) throw new Error("There is no job.");
    let splits = 0;
    await jobs.deliver(async (batch) => {
      const body = batch.messages[0]?.body as Parameters<typeof splitInput>[2];
      if (body.kind !== "split") return app.queue(batch, {}, { waitUntil: () => {} });
      splits++;
      await splitInput(jobs, job, body, 200);
    });
    expect(splits).toBeGreaterThan(4);
    expect(await content("results")).toBe(results);
  });

  it("fails to stream results of which a part was deleted, instead of leaving it out", async () => {
    await wholeJob();
    for (const index of [2, parts().length - 1]) {
      const key = parts()[index] ?? "";
      const deleted = jobs.objects.get(key);
      jobs.objects.delete(key);
      await expect(content("results")).rejects.toMatchObject({ code: "storage_unavailable" });
      if (deleted) jobs.objects.set(key, deleted);
    }
    expect(await content("results")).not.toBe("");
  });

  it("with an empty input is complete", async () => {
    jobs = fakeJobs({ "jobs/a/input.jsonl": "" });
    app = edge();
    expect(await wholeJob()).toEqual({ results: "", rejected: "" });
    expect(await status()).toMatchObject({ state: "complete", parts: 0, counts: { records: 0 } });
  });
});

describe("a job that was started", () => {
  it("is not continued with another input, other options or another model version", async () => {
    await start();
    expect(await failure(start({ truncate: true }))).toEqual([409, "job_changed"]);
    expect(await failure(start({ encoding_format: "base64" }))).toEqual([409, "job_changed"]);
    await publishTiny(store, "newer");
    app = edge();
    expect(await failure(start())).toEqual([409, "job_changed"]);
    await deliver();
    expect(parts()).toEqual([]);
    expect(jobs.dead.length).toBeGreaterThan(10);
  });

  it("stops when its input changes", async () => {
    await start();
    jobs.set("jobs/a/input.jsonl", '"other"');
    await deliver();
    expect([parts(), jobs.dead.length]).toEqual([[], 1]);
    expect(await failure(start())).toEqual([409, "job_changed"]);
  });

  it("is dropped when its object is deleted, and a new job of this name ignores its parts", async () => {
    await start();
    await jobs.deliver(async (batch) => {
      if (parts().length === 3) jobs.objects.delete("jobs/a/job.json");
      await app.queue(batch, {}, { waitUntil: () => {} });
    });
    expect([parts().length, jobs.dead]).toEqual([3, []]);
    jobs.set("jobs/a/input.jsonl", '"other"');
    await wholeJob();
    expect(await status()).toMatchObject({ parts: 1, counts: { records: 1 } });
    expect((await content("results")).trim().split("\n")).toHaveLength(1);
  });

  it("expires, and continues when it is started again", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-01-01") });
    await start();
    vi.setSystemTime(new Date("2026-01-06"));
    await deliver();
    expect(await status()).toMatchObject({ state: "expired", parts: 0 });
    await wholeJob();
    expect(await status()).toMatchObject({ state: "complete", started: "2026-01-01T00:00:00.000Z" });
  });
});

describe("the routes of jobs", () => {
  it("refuse callers without a key, wrong names, unknown jobs and jobs without an input", async () => {
    for (const [method, path] of [
      ["POST", "a"],
      ["GET", "a"],
      ["GET", "a/results"],
      ["GET", "a/rejected"],
    ]) {
      expect((await app.request(`/v1/jobs/${path}`, { method: method ?? "" }, {})).status).toBe(401);
    }
    expect(await failure(ask("POST", "..%2Fmodels"))).toEqual([400, "request_invalid"]);
    for (const path of ["b", "b/"]) expect(await failure(ask("POST", path))).toEqual([404, "job_unknown"]);
    expect(await failure(ask("GET", "b"))).toEqual([404, "job_unknown"]);
    expect(await failure(start({ encoding_format: "int8" }))).toEqual([400, "request_invalid"]);
    expect(jobs.messages).toEqual([]);
  });

  it("return no results of a job that is not complete", async () => {
    await start();
    expect(await failure(ask("GET", "a/results"))).toEqual([409, "job_incomplete"]);
  });

  it("do not exist in a deployment without jobs, whose queue handler names the setting", async () => {
    app = createEdgeApp({ models: store, model: TINY.name, engine: fakeEngine(), keys: ["k"] });
    expect(await failure(start())).toEqual([404, "route_unknown"]);
    await expect(app.queue({ messages: [] }, {}, { waitUntil: () => {} })).rejects.toMatchObject({
      code: "setting_invalid",
    });
  });
});

describe("the queue handler", () => {
  it("retries a message later and later, and messages that are not of a job too", async () => {
    const retry = vi.fn();
    const message = (body: unknown, attempts: number) => ({ body, attempts, ack: vi.fn(), retry });
    const messages = [message("hello", 1), message(null, 2), message({ kind: "part" }, 20)];
    await app.queue({ messages }, {}, { waitUntil: () => {} });
    expect(retry.mock.calls).toEqual([[{ delaySeconds: 5 }], [{ delaySeconds: 10 }], [{ delaySeconds: 600 }]]);
    expect(messages.some(({ ack }) => ack.mock.calls.length > 0)).toBe(false);
  });
});
