import { beforeEach, describe, expect, it, vi } from "vitest";
import { pointerKey } from "#sdk/artifact/keys.ts";
import type { JobsBucket } from "#sdk/serve/bulk/bindings.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { keysFromStore } from "#sdk/serve/keys/key-list.ts";
import { readPointer } from "#sdk/storage/published-artifact.ts";
import type { WritableStore } from "#sdk/storage/store.ts";
import { fakeJobs } from "../fixtures/fake-jobs.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";

/** Someone who can write to the bucket puts 60 MB of commas where a small object belongs. */
const SIZE = 60_000_000;
const PIECE = 100_000;

let sent = 0;
function commas(): ReadableStream<Uint8Array> {
  let left = SIZE;
  return new ReadableStream<Uint8Array>(
    {
      pull(stream) {
        if (left <= 0) return stream.close();
        left -= PIECE;
        sent += PIECE;
        stream.enqueue(new Uint8Array(PIECE).fill(44));
      },
    },
    { highWaterMark: 0 },
  );
}

let store: WritableStore;
let attacked: string;
beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  sent = 0;
  const sound = await tinyStore();
  store = { ...sound, open: async (key, signal) => (key === attacked ? commas() : sound.open(key, signal)) };
});

describe("60 MB of commas in place of", () => {
  it.each([
    ["a pointer", pointerKey(TINY.name), 16 * 1024 ** 2, () => readPointer(store, TINY.name)],
    ["the keys", "keys.txt", 1024 ** 2, () => keysFromStore(store, "keys.txt")],
  ])("%s are not read beyond its limit, and the error names object and limit", async (_, key, limit, read) => {
    attacked = key;
    const error = await read().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "storage_unavailable", hint: expect.stringContaining("damaged") });
    expect((error as Error).message).toContain(`larger than ${limit} bytes (object ${key})`);
    expect(sent).toBeLessThanOrEqual(limit + 2 * PIECE);
  });

  it("a pointer leave the edge answering, with model_unavailable", async () => {
    attacked = pointerKey(TINY.name);
    const app = createEdgeApp({ models: store, model: TINY.name, engine: fakeEngine(), keys: ["k"] });
    const headers = { authorization: "Bearer k", "content-type": "application/json" };
    const response = await app.request("/v1/embed", { method: "POST", headers, body: '{"inputs":["to be"]}' }, {});
    expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("model_unavailable")]);
  });

  it.each(["job.json", "summary.json"])("a job's %s are named with their size, and hardly read", async (file) => {
    attacked = "";
    const jobs = fakeJobs({ "jobs/a/input.jsonl": '"to be"\n' });
    const key = `jobs/a/${file}`;
    const get: JobsBucket["get"] = async (asked, options) => {
      if (asked !== key || !isAttacked) return jobs.bucket.get(asked, options);
      return { key, size: SIZE, etag: "e", body: commas() };
    };
    let isAttacked = false;
    const place = { ...jobs, bucket: { ...jobs.bucket, get } };
    const app = createEdgeApp({ models: store, model: TINY.name, engine: fakeEngine(), keys: ["k"], jobs: place });
    const ask = (method: string) => app.request("/v1/jobs/a", { method, headers: { authorization: "Bearer k" } }, {});
    expect((await ask("POST")).status).toBe(202);
    isAttacked = true;
    for (const method of ["GET", "POST"]) {
      const response = await ask(method);
      expect(response.status).toBe(409);
      expect(await response.text()).toContain(`${key} has ${SIZE} bytes, but only up to 65536 are read.`);
    }
    expect(sent).toBeLessThanOrEqual(4 * PIECE);
  });
});
