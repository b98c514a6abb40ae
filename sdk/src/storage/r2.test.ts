import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testStore, testWritableStore } from "#test/suites/store-suite.ts";
import { r2Store } from "./r2.ts";
import { r2Publisher, type WritableR2Bucket } from "./r2-publisher.ts";

const script = "export default { fetch() { return new Response() } }";
const workerd = new Miniflare(
  convertV4MiniflareOptions({ modules: true, script, r2Buckets: ["MODELS", "FIRST", "SECOND"] }),
);
let bucket: WritableR2Bucket;
beforeAll(async () => {
  bucket = (await workerd.getR2Bucket("MODELS")) as unknown as WritableR2Bucket;
});
afterAll(() => workerd.dispose());

testStore("r2Store", async () => ({
  store: r2Store(bucket, { prefix: "team-a" }),
  put: (key, bytes) => r2Publisher(bucket).put(`team-a/${key}`, bytes, { contentType: "application/octet-stream" }),
}));

const empty = ["FIRST", "SECOND"];
testWritableStore(
  "r2Publisher",
  async () => r2Publisher((await workerd.getR2Bucket(empty.shift() ?? "")) as unknown as WritableR2Bucket),
  1,
);

describe("r2Publisher", () => {
  it("names the bucket and the key when the binding refuses", async () => {
    const broken = () => Promise.reject(new Error("internal error (10001)"));
    const store = r2Publisher(
      { get: broken, head: broken, put: broken, list: broken, delete: broken },
      "r2-local(models)",
    );
    for (const work of [
      store.head("k"),
      store.put("k", bytesOf("x"), { contentType: "text/plain" }),
      store.remove("k"),
    ]) {
      await expect(work).rejects.toMatchObject({
        code: "storage_unavailable",
        message: expect.stringMatching(/^r2-local\(models\) could not be read or written: .* \(object k\)$/),
      });
    }
  });

  it("refuses a list that is cut off and has no cursor", async () => {
    const cut = { ...bucket, list: async () => ({ objects: [], truncated: true }) };
    await expect(Array.fromAsync(r2Publisher(cut).list("models/"))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("the list is cut off"),
    });
  });
});

describe("r2Store", () => {
  it("reads without a prefix by default", async () => {
    await r2Publisher(bucket).put("plain", bytesOf("x"), { contentType: "text/plain" });
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
