import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeJobs, fakeJobs } from "#test/fixtures/fake-jobs.ts";
import { fakeEngine, TINY, tinyStore } from "#test/fixtures/tiny-model.ts";
import { memoryStore } from "../../storage/memory.ts";
import type { WritableStore } from "../../storage/store.ts";
import type { ApiKey } from "../call-defaults.ts";
import { createEdgeApp } from "../edge-app.ts";
import type { EmbeddingsApp } from "../embedding-routes.ts";
import type { BulkJob, JobMessage } from "./job.ts";

/** 40 texts of 4 tokens, in more than ten parts, and a line that is set aside. */
const INPUT = `${'"to be"\n'.repeat(40)}not JSON\n`;
const TEXTS = 40;
const JOB = "jobs/news/job.json";
const KEYS: ApiKey[] = [
  { name: "a", key: "ka" },
  { name: "a", key: "ka2" },
  { name: "b", key: "kb" },
  { name: "ops", key: "kops", jobs: "all" },
];

let store: WritableStore;
let jobs: FakeJobs;
let app: EmbeddingsApp<object>;
beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  store = await tinyStore();
  jobs = fakeJobs({ "jobs/news/input.jsonl": INPUT });
  app = edge(KEYS);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Another isolate, with these keys. */
const edge = (keys: readonly ApiKey[] | false) =>
  createEdgeApp({ models: store, model: TINY.name, engine: fakeEngine(), keys, jobs });

/** Asks with a key. Returns the status, and the body without the name of the request. */
async function ask(key: string, method: string, path: string): Promise<{ status: number; text: string }> {
  const response = await app.request(`/v1/jobs/${path}`, { method, headers: { authorization: `Bearer ${key}` } }, {});
  return { status: response.status, text: (await response.text()).replace(/"request_id":"[^"]*"/, "") };
}
const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status;
const embed = async (key: string) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ inputs: ["to be"] });
  return (await app.request("/v1/embed", { method: "POST", headers, body }, {})).status;
};
const deliver = () => jobs.deliver((batch) => app.queue(batch, {}, { waitUntil: () => {} }));
const record = () => JSON.parse(jobs.text(JOB) ?? "{}") as BulkJob;
const parts = () => [...jobs.objects.keys()].filter((key) => key.includes("/parts/")).length;

const routes = [
  ["GET", ""],
  ["GET", "/results"],
  ["GET", "/rejected"],
  ["POST", ""],
] as const;

describe("a job of a key", () => {
  it("is kept with the name of its key, and never with the key", async () => {
    expect(await statusOf("ka", "POST", "news")).toBe(202);
    expect(record().owner).toBe("a");
    await deliver();
    for (const key of jobs.objects.keys()) expect(jobs.text(key)).not.toMatch(/\bka\b/);
    expect(JSON.parse((await ask("ka", "GET", "news")).text)).toMatchObject({ state: "complete", owner: "a" });
  });

  it.each(["running", "complete"])(
    "is unknown to another key, in the words for a job that is not there, when %s",
    async (state) => {
      await ask("ka", "POST", "news");
      if (state === "complete") await deliver();
      const before = structuredClone([...jobs.objects]);
      const messages = structuredClone(jobs.messages);
      for (const [method, path] of routes) {
        const there = await ask("kb", method, `news${path}`);
        const absent = await ask("kb", method, `none${path}`);
        expect(there.status).toBe(404);
        expect(there.text).toContain("job_unknown");
        expect(there.text.replaceAll("news", "none")).toBe(absent.text);
      }
      expect([...jobs.objects]).toEqual(before);
      expect(jobs.messages).toEqual(messages);
    },
  );

  it("is unknown to another key in the same words while no model is served, too", async () => {
    await ask("ka", "POST", "news");
    store = memoryStore();
    app = edge(KEYS);
    const there = await ask("kb", "POST", "news");
    expect(there.status).toBe(503);
    expect(there.text).toBe((await ask("kb", "POST", "none")).text);
  });

  it("is started by one key alone, if two start it at once", async () => {
    const statuses = await Promise.all([statusOf("ka", "POST", "news"), statusOf("kb", "POST", "news")]);
    expect(statuses.toSorted()).toEqual([202, 404]);
    const [other, key] = statuses[0] === 202 ? ["kb", "ka"] : ["ka", "kb"];
    await deliver();
    expect(await statusOf(key, "GET", "news/results")).toBe(200);
    expect(await statusOf(other, "GET", "news")).toBe(404);
  });

  it("is open to all keys of its name, and to keys that see all jobs, whose start leaves it to its key", async () => {
    await ask("ka", "POST", "news");
    expect(await statusOf("ka2", "GET", "news")).toBe(200);
    expect(await statusOf("kops", "POST", "news")).toBe(202);
    expect(record().owner).toBe("a");
    await deliver();
    for (const key of ["ka", "ka2", "kops"]) {
      for (const [method, path] of routes) expect(await statusOf(key, method, `news${path}`)).toBe(200);
    }
  });

  it("sees all jobs only if each key of its name says so", async () => {
    await ask("kb", "POST", "news");
    app = edge([...KEYS, { name: "ops", key: "kops2" }]);
    for (const key of ["kops", "kops2"]) expect(await statusOf(key, "GET", "news")).toBe(404);
  });

  it("belongs to a key without a name by its hash, so a new key is another caller", async () => {
    app = edge(["plain", "other"]);
    await ask("plain", "POST", "news");
    expect(record().owner).toMatch(/^key-[0-9a-f]{8}$/);
    expect(await statusOf("plain", "GET", "news")).toBe(200);
    expect(await statusOf("other", "GET", "news")).toBe(404);
  });

  it("was cancelled: its late rejected lines are not shown to the key that has its name now", async () => {
    await ask("ka", "POST", "news");
    await deliver();
    const late = [...jobs.objects].filter(([key]) => key.includes("/rejected/"));
    expect(late).toHaveLength(1);
    jobs.objects.delete(JOB);
    await ask("kb", "POST", "news");
    await deliver();
    for (const [key, object] of late) jobs.objects.set(key, object);
    expect(await statusOf("kb", "GET", "news/results")).toBe(200);
    await expect(ask("kb", "GET", "news/rejected")).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

describe("a job without an owner", () => {
  beforeEach(async () => {
    app = edge(false);
    await ask("", "POST", "news");
  });

  it("is that of a deployment which checks no keys, for which all jobs are open", async () => {
    expect(record().owner).toBeUndefined();
    await deliver();
    expect(await statusOf("", "GET", "news/results")).toBe(200);
    jobs.set(JOB, JSON.stringify({ ...record(), owner: "a" }));
    expect(await statusOf("", "GET", "news/results")).toBe(200);
  });

  it("is only for keys that see all jobs, if there are several callers", async () => {
    app = edge(KEYS);
    for (const [method, path] of routes) expect(await statusOf("ka", method, `news${path}`)).toBe(404);
    expect(await statusOf("kops", "GET", "news")).toBe(200);
  });

  it("is for the key of a deployment with one, and belongs to it when it is started again", async () => {
    app = edge([
      { name: "a", key: "ka" },
      { name: "a", key: "ka2" },
    ]);
    expect(await statusOf("ka2", "GET", "news")).toBe(200);
    expect(record().owner).toBeUndefined();
    expect(await statusOf("ka", "POST", "news")).toBe(202);
    expect(record().owner).toBe("a");
    app = edge(KEYS);
    expect([await statusOf("kb", "GET", "news"), await statusOf("ka", "GET", "news")]).toEqual([404, 200]);
  });

  it("counts for no key, and goes on", async () => {
    app = edge([{ name: "a", key: "ka", textsPerMinute: 1 }, "other"]);
    await deliver();
    expect(jobs.objects.has("jobs/news/summary.json")).toBe(true);
    expect(await embed("ka")).toBe(200);
  });
});

describe("the limits of a job's key", () => {
  const limited = (limits: object): ApiKey[] => [{ name: "a", key: "ka", ...limits }, "other"];
  const messages = () => jobs.messages.map(({ body }) => body as JobMessage & { waits?: number });

  it.each([
    ["tokensPerMinute", 4 * TEXTS],
    ["textsPerMinute", TEXTS],
  ])("of %s count what its parts compute", async (limit, perMinute) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    app = edge(limited({ [limit]: perMinute }));
    await ask("ka", "POST", "news");
    await deliver();
    expect(jobs.objects.has("jobs/news/summary.json")).toBe(true);
    // The account is full now, and one text more is over it.
    expect(await embed("ka")).toBe(200);
    expect(await embed("ka")).toBe(429);
    expect(await embed("other")).toBe(200);
  });

  it.each([
    ["textsPerMinute", 12, 12],
    ["tokensPerMinute", 48, 12],
    // Each part is a request, and so is the start.
    ["requestsPerMinute", 3, 0],
  ])("of %s make parts wait, which are sent again and not lost", async (limit, perMinute, texts) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    app = edge(limited({ [limit]: perMinute }));
    await ask("ka", "POST", "news");
    let rounds = 0;
    for (; !jobs.objects.has("jobs/news/summary.json") && rounds < 200; rounds++) {
      await deliver();
      if (rounds === 0) {
        expect(parts()).toBeGreaterThan(0);
        expect(messages().some(({ kind, waits = 0 }) => kind === "part" && waits > 0)).toBe(true);
        expect(JSON.parse((await ask("other", "GET", "news")).text)).toMatchObject({ error: { code: "job_unknown" } });
      }
      vi.setSystemTime(Date.now() + 60_000);
    }
    expect(jobs.dead).toEqual([]);
    expect(rounds).toBeGreaterThan(texts === 0 ? 3 : 2);
    const lines = (await ask("ka", "GET", "news/results")).text.trim().split("\n");
    expect(lines).toHaveLength(TEXTS);
  });

  it("put a part off for longer each time, and for 10 minutes at most", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    app = edge(limited({ textsPerMinute: 1 }));
    await ask("ka", "POST", "news");
    const delays: number[] = [];
    const { send } = jobs.queue;
    vi.spyOn(jobs.queue, "send").mockImplementation(async (body, options) => {
      if ((body as JobMessage).kind === "part") delays.push(options?.delaySeconds ?? 0);
      return send(body, options);
    });
    for (let i = 0; i < 40; i++) await deliver();
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(60);
    expect(Math.max(...delays)).toBe(600);
  });
});

describe("a job whose key was removed", () => {
  it("waits, fails by name, and goes on once a key has its name again", async () => {
    await ask("ka", "POST", "news");
    app = edge([{ name: "b", key: "kb" }]);
    await deliver();
    expect([parts(), jobs.dead.length]).toEqual([0, 1]);
    expect(console.error).toHaveBeenCalledWith(
      expect.anything(),
      expect.objectContaining({ code: "key_wrong", message: expect.stringContaining("key a,") }),
    );
    // The only key that is left does not inherit it.
    expect(await statusOf("kb", "GET", "news")).toBe(404);
    app = edge([
      { name: "a", key: "new" },
      { name: "b", key: "kb" },
    ]);
    expect(await statusOf("new", "POST", "news")).toBe(202);
    await deliver();
    expect(await statusOf("new", "GET", "news/results")).toBe(200);
  });
});
