import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestBucket, testBucketStore } from "#test/fixtures/r2.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { r2Store } from "./r2.ts";
import { readObject } from "./read-object.ts";

const script = "export default { fetch() { return new Response() } }";
const workerd = new Miniflare(convertV4MiniflareOptions({ modules: true, script, r2Buckets: ["MODELS"] }));
let bucket: TestBucket;
beforeAll(async () => {
  bucket = (await workerd.getR2Bucket("MODELS")) as unknown as TestBucket;
});
afterAll(() => workerd.dispose());

testStore("r2Store", async () => ({
  store: r2Store(bucket, { prefix: "team-a" }),
  put: (key, bytes) => testBucketStore(bucket).put(`team-a/${key}`, bytes, { contentType: "application/octet-stream" }),
}));

describe("r2Store", () => {
  it("reads without a prefix by default", async () => {
    await testBucketStore(bucket).put("plain", bytesOf("x"), { contentType: "text/plain" });
    expect(await readObject(r2Store(bucket), "plain")).toEqual(bytesOf("x"));
  });

  it.each([
    ["refuses", { get: () => Promise.reject(new Error("internal error (10001)")) }],
    [
      "breaks off",
      { get: async () => ({ body: new ReadableStream({ pull: () => Promise.reject(new Error("stream closed")) }) }) },
    ],
  ])("throws storage_unavailable when the binding %s", async (_, broken) => {
    await expect(readObject(r2Store(broken, { prefix: "p/" }), "models/x.json")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("r2(p/) could not be read or written"),
      cause: expect.any(Error),
    });
  });
});

it("throws storage_unavailable when the binding does not answer", async () => {
  const silent = { get: () => new Promise<never>(() => {}) };
  await expect(readObject(r2Store(silent, { timeoutMs: 5 }), "k")).rejects.toMatchObject({
    code: "storage_unavailable",
  });
});
