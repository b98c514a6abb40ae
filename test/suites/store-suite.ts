import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { describeFile } from "#sdk/artifact/describe-file.ts";
import { into } from "#sdk/artifact/fill.ts";
import { CHUNK_BYTES } from "#sdk/artifact/manifest.ts";
import { receive } from "#sdk/storage/receive.ts";
import type { ManagedStore, ObjectStore, StoredObject, WritableStore } from "#sdk/storage/store.ts";
import { readStored } from "#sdk/storage/stored-artifact.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { seeded } from "../fixtures/seeded.ts";
import { bytesOf } from "../fixtures/small-artifact.ts";

const contentType = "application/octet-stream";

export interface ReadableUnderTest {
  store: ObjectStore;
  /** Stores an object so that `store` can read it. This also works if `store` itself is read-only. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** Parts of random keys. Some characters have a special meaning in URLs or file systems. */
const keyPart = fc.string({ unit: fc.constantFrom(..."abcXYZ019._-+ %&='()*!~üß"), minLength: 1, maxLength: 12 });
const storedKey = fc
  .array(
    keyPart.filter((part) => !/^\.+$|^\s|\s$/.test(part)),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => `property/${parts.join("/")}/object`);

/** Keys that could name something outside of the store, or that not every store can distinguish. */
const refusedKeys = [
  "",
  "/a",
  "a/",
  "a//b",
  ".",
  "..",
  "a/./b",
  "../a",
  "a/..",
  "a/../../../b",
  "a\\..\\b",
  "C:a",
  "a\0",
];

/** Defines the tests that every store must pass. `make` returns an empty store. */
export function testStore(name: string, make: () => Promise<ReadableUnderTest>): void {
  describe(`${name} as a store`, () => {
    let store: ObjectStore;
    let put: ReadableUnderTest["put"];
    beforeAll(async () => {
      ({ store, put } = await make());
    });

    it("has a name", () => {
      expect(store.name).toMatch(/\w/);
    });

    it("finds nothing under a key that was never written", async () => {
      expect(await readObject(store, "models/never/current.json")).toBeUndefined();
    });

    it("returns every byte of an object", async () => {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) % 256);
      await put("blobs/sha256/abc", bytes);
      const read = await readObject(store, "blobs/sha256/abc");
      expect(read).toBeInstanceOf(Uint8Array);
      expect(Buffer.compare(read as Uint8Array, bytes)).toBe(0);
    });

    it.each([
      ["the first bytes", 0, 9],
      ["the last byte", 299_999, 300_000],
      ["bytes in the middle", 70_001, 140_003],
      ["the whole object", 0, 300_000],
    ])("returns a part of an object: %s", async (_, begin, end) => {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7 + (i >> 8)) % 256);
      await put("blobs/sha256/parts", bytes);
      const pieces: Uint8Array[] = [];
      const deliver = async (piece: Uint8Array) => void pieces.push(new Uint8Array(piece));
      expect(await receive(store, "blobs/sha256/parts", deliver, { begin, end })).toBe(true);
      expect(Buffer.compare(Buffer.concat(pieces), bytes.subarray(begin, end))).toBe(0);
    });

    it("finds no part of an object that was never written", async () => {
      expect(await receive(store, "never written", async () => {}, { begin: 0, end: 9 })).toBe(false);
    });

    it("streams an object into memory and checks it", async () => {
      const bytes = Uint8Array.from({ length: 2 * CHUNK_BYTES + 7 }, (_, i) => (i * 7 + (i >> 8)) % 256);
      const file = await describeFile(bytes);
      const { buffer } = new WebAssembly.Memory({ initial: 40 });
      const target = new Uint8Array(buffer, 8, bytes.length);
      const read = () => readStored(store, "streamed", file, into(target));
      await put("streamed", bytes);
      await read();
      expect(Buffer.compare(target, bytes)).toBe(0);
      await put("streamed", bytes.with(CHUNK_BYTES, 9));
      await expect(read()).rejects.toMatchObject({
        code: "artifact_corrupt",
        message: expect.stringContaining(`in bytes ${CHUNK_BYTES} to ${2 * CHUNK_BYTES - 1}`),
      });
    });

    it("works after a reader that stops in the middle", async () => {
      const bytes = new Uint8Array(3_000_000).fill(5);
      await put("given up", bytes);
      for (let reader = 0; reader < 5; reader++) {
        const enough = new Error("enough");
        await expect(receive(store, "given up", () => Promise.reject(enough))).rejects.toBe(enough);
      }
      expect(Buffer.compare((await readObject(store, "given up")) as Uint8Array, bytes)).toBe(0);
    });

    it.each(refusedKeys)("refuses to read the key %j", async (key) => {
      await expect(readObject(store, key)).rejects.toMatchObject({
        code: "object_key_invalid",
        message: expect.stringContaining(JSON.stringify(key)),
      });
    });

    it("distinguishes an empty object from a missing one", async () => {
      await put("empty", new Uint8Array());
      expect(await readObject(store, "empty")).toEqual(new Uint8Array());
    });

    it("does not confuse a key with its prefixes or extensions", async () => {
      await put("models/small/current.json", bytesOf("{}"));
      for (const key of ["models", "models/small", "models/small/current", "models/small/current.json/more"]) {
        expect(await readObject(store, key), key).toBeUndefined();
      }
    });

    it("distinguishes keys with any characters", async () => {
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(storedKey, { minLength: 2, maxLength: 4 }), async (keys) => {
          for (const key of keys) await put(key, bytesOf(key));
          for (const key of keys) expect(await readObject(store, key)).toEqual(bytesOf(key));
        }),
        seeded(15),
      );
    });

    it("reads the new object after a replacement", async () => {
      await put("replaced", bytesOf("the older and longer one"));
      await readObject(store, "replaced");
      await put("replaced", bytesOf("the newer"));
      expect(await readObject(store, "replaced")).toEqual(bytesOf("the newer"));
    });

    it("returns a copy of the bytes", async () => {
      await put("own", bytesOf("unchanged"));
      (await readObject(store, "own"))?.fill(0);
      expect(await readObject(store, "own")).toEqual(bytesOf("unchanged"));
    });

    it("serves concurrent readers", async () => {
      const keys = Array.from({ length: 20 }, (_, i) => `many/${i}`);
      await Promise.all(keys.map((key) => put(key, bytesOf(key))));
      expect(await Promise.all(keys.map((key) => readObject(store, key)))).toEqual(keys.map(bytesOf));
    });
  });
}

/**
 * Defines the tests that every writable store must pass, including those of `testStore`.
 *
 * @param clockMs precision of the store's clock in ms, if two writes within this time look like one. Default: they never do.
 */
export function testWritableStore(name: string, make: () => Promise<ManagedStore>, clockMs = 0): void {
  testStore(name, async () => {
    const store = await make();
    return { store, put: (key, bytes) => store.put(key, bytes, { contentType }) };
  });

  describe(`${name} as a store to publish to`, () => {
    let store: ManagedStore;
    beforeAll(async () => {
      store = await make();
    });

    it("lists the objects below a prefix, and removes them", async () => {
      const before = Date.now();
      const keys = ["listed/a", "listed/b/c.json", "listed/b/d", "listed-not/e"];
      for (const [i, key] of keys.entries()) await store.put(key, new Uint8Array(i), { contentType });
      const listed = async (prefix: string) => (await Array.fromAsync(store.list(prefix))).map(({ key }) => key).sort();
      expect(await listed("listed/")).toEqual(keys.slice(0, 3));
      expect(await listed("listed/b/")).toEqual(keys.slice(1, 3));
      expect(await listed("listed")).toEqual(keys.toSorted());
      expect(await listed("nothing/")).toEqual([]);
      const [c] = await Array.fromAsync(store.list("listed/b/c"));
      expect(c).toMatchObject({ key: "listed/b/c.json", size: 1 });
      // Stores write whole seconds, by their own clocks.
      expect(Math.abs((c?.modified.getTime() ?? 0) - before)).toBeLessThan(60_000);
      const d = (await store.head("listed/b/d")) as StoredObject;
      expect(await store.remove("listed/b/d", { ...d, etag: "another" })).toBe(false);
      expect(await listed("listed/")).toEqual(keys.slice(0, 3));
      expect(await store.remove("listed/b/d", d)).toBe(true);
      await store.remove("listed/b/d");
      expect(await listed("listed/")).toEqual(keys.slice(0, 2));
      expect(await store.head("listed/b/d")).toBeUndefined();
    });

    it.each(refusedKeys)("refuses to write, describe and remove the key %j", async (key) => {
      const refused = { code: "object_key_invalid" };
      await expect(store.put(key, bytesOf("x"), { contentType })).rejects.toMatchObject(refused);
      await expect(store.head(key)).rejects.toMatchObject(refused);
      await expect(store.remove(key)).rejects.toMatchObject(refused);
      await expect(Array.fromAsync(store.list(`${key}/`))).rejects.toMatchObject(refused);
    });

    it("does not remove an object that was written again with the same bytes, which can have the same etag", async () => {
      const put = () => store.put("blobs/again", bytesOf("the same"), { contentType });
      const listed = async () => (await Array.fromAsync(store.list("blobs/again")))[0] as StoredObject;
      await put();
      const seen = await listed();
      if (clockMs > 0) await setTimeout(clockMs + 100);
      await put();
      expect(await store.remove("blobs/again", seen)).toBe(false);
      expect(await readObject(store, "blobs/again")).toEqual(bytesOf("the same"));
      expect(await store.remove("blobs/again", await listed())).toBe(true);
      expect(await store.head("blobs/again")).toBeUndefined();
    });

    it("replaces an object only if it is the one that was seen", async () => {
      const put = (text: string, replaces?: StoredObject | null) =>
        store.put("models/swapped/current.json", bytesOf(text), {
          contentType,
          ...(replaces !== undefined && { replaces }),
        });
      const seen = async () => (await store.head("models/swapped/current.json")) as StoredObject;
      await put("first", null);
      const first = await seen();
      const listed = await Array.fromAsync(store.list("models/swapped/"));
      expect(listed).toMatchObject([{ key: first.key, size: first.size, etag: first.etag }]);
      await expect(put("another first", null)).rejects.toMatchObject({ code: "publish_conflict" });
      await put("second", first);
      await expect(put("another second", first)).rejects.toMatchObject({ code: "publish_conflict" });
      expect(await readObject(store, first.key)).toEqual(bytesOf("second"));
      await put("any", undefined);
      await put("third", await seen());
      const third = await seen();
      await store.remove(first.key);
      await expect(put("fourth", third)).rejects.toMatchObject({ code: "publish_conflict" });
      expect(await store.head(first.key)).toBeUndefined();
      expect(await Array.fromAsync(store.list("models/swapped/"))).toEqual([]);
    });

    it("lists no unfinished uploads after puts that have ended", async () => {
      await store.put("blobs/whole", bytesOf("x"), { contentType });
      expect(await Array.fromAsync(store.unfinished?.("") ?? [])).toEqual([]);
    });

    it("describes an object", async () => {
      expect(await store.head("a/key")).toBeUndefined();
      for (const bytes of [bytesOf("x"), new Uint8Array(100_000), new Uint8Array()]) {
        await store.put("a/key", bytes, { contentType });
        expect(await store.head("a/key")).toMatchObject({ key: "a/key", size: bytes.length });
      }
    });

    it("does not confuse a key with its prefixes or extensions", async () => {
      await store.put("models/small/current.json", bytesOf("{}"), { contentType });
      for (const key of ["models", "models/small", "models/small/current.json/more"]) {
        expect(await store.head(key), key).toBeUndefined();
      }
    });

    it.each([
      ["bytes", bytesOf("first")],
      ["Node's Buffer", Buffer.from("first")],
    ])("keeps an object when its caller overwrites the %s later", async (key, bytes) => {
      await store.put(key, bytes, { contentType });
      bytes.fill(0);
      expect(await readObject(store, key)).toEqual(bytesOf("first"));
    });
  });
}

/**
 * Tests that an object is complete after concurrent puts with the same key. The test is for storage drivers that write
 * objects themselves. Do not use it for S3 and R2: the real servers guarantee complete objects, but the test servers
 * do not.
 */
export function testAtomicPuts(name: string, makeStore: () => Promise<WritableStore>): void {
  it(`${name} keeps one whole object after concurrent puts with the same key`, async () => {
    const store = await makeStore();
    const candidates = [1, 2, 3, 4].map((value) => new Uint8Array(50_000 * value).fill(value));
    await Promise.all(candidates.map((bytes) => store.put("contested", bytes, { contentType })));
    const winner = (await readObject(store, "contested")) as Uint8Array;
    expect(candidates.some((bytes) => Buffer.compare(bytes, winner) === 0)).toBe(true);
  });
}
