import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { recordingStore } from "#test/fixtures/recording-store.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { bytesOf, smallArtifact } from "#test/fixtures/small-artifact.ts";
import { verifyPublished } from "#test/fixtures/verify-published.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { readPointer } from "./published-artifact.ts";
import type { ManagedStore } from "./store.ts";
import { listVersions, previousVersion, promote, rollback } from "./versions.ts";

const DAY_MS = 86_400_000;
const contentType = "application/octet-stream";
const artifactOf = (content: string) => smallArtifact(content);

beforeEach(() => void vi.setSystemTime("2026-11-21"));
afterEach(() => void vi.useRealTimers());

/** Publishes a version for each content, a moment apart. Returns the versions. */
async function published(store: ManagedStore, ...contents: string[]): Promise<string[]> {
  const versions: string[] = [];
  for (const content of contents) {
    versions.push((await publish(await artifactOf(content), store)).version);
    vi.setSystemTime(Date.now() + 1);
  }
  return versions;
}
const currentOf = async (store: ManagedStore) => (await readPointer(store, "small")).version;
const later = (days: number) => Date.now() + days * DAY_MS;

describe("listVersions", () => {
  it("lists versions, the newest first, and says which one is current", async () => {
    const store = memoryStore();
    const [a, b] = await published(store, "a", "b");
    await store.put("models/small/notes.json", bytesOf("{}"), { contentType });
    await store.put("models/UPPER/0123456789ab.json", bytesOf("{}"), { contentType });
    const versions = await listVersions(store);
    expect(versions.map(({ version, isCurrent }) => [version, isCurrent])).toEqual([
      [b, true],
      [a, false],
    ]);
    expect(await listVersions(store, "small")).toEqual(versions);
    expect(await listVersions(store, "other")).toEqual([]);
  });
});

describe("promote and previousVersion", () => {
  it("go back to the version before, and forward again", async () => {
    const store = memoryStore();
    const [a = "", b = "", c = ""] = await published(store, "a", "b", "c");
    expect(await previousVersion(store, "small")).toBe(b);
    await promote(store, "small", b);
    expect([await currentOf(store), await previousVersion(store, "small")]).toEqual([b, a]);
    await promote(store, "small", c);
    expect(await currentOf(store)).toBe(c);
    await promote(store, "small", a);
    expect(await previousVersion(store, "small")).toBe(c);
    for (const version of [c, b, a]) await promote(store, "small", version);
    await expect(previousVersion(store, "small")).rejects.toMatchObject({
      message: expect.stringContaining("no version of small before the current one"),
    });
    await expect(previousVersion(store, "other")).rejects.toMatchObject({
      message: expect.stringContaining("no model named other"),
    });
  });

  it("are what rollback does, which names the version that is current then", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    expect(await rollback(store, "small")).toBe(a);
    expect(await currentOf(store)).toBe(a);
    await expect(rollback(store, "small")).rejects.toMatchObject({ code: "model_not_published" });
  });

  it("go to the version that was current, whatever else was written when", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a");
    const killed = recordingStore(store, 4);
    await expect(publish(await artifactOf("never current"), killed)).rejects.toThrow("The network is down.");
    await published(store, "c");
    expect(await previousVersion(store, "small")).toBe(a);
    await store.remove(pointerKey("small", a));
    await expect(previousVersion(store, "small")).rejects.toMatchObject({
      code: "model_not_published",
      message: expect.stringMatching(/was current before, but memory does not have it any more/),
    });
  });

  it("guess by time if the pointer does not say which version was before, and say so", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    const { previous: _, ...older } = await readPointer(store, "small");
    await store.put(pointerKey("small"), bytesOf(JSON.stringify(older)), { contentType });
    const onGuess = vi.fn();
    expect(await previousVersion(store, "small", onGuess)).toBe(a);
    expect(onGuess).toHaveBeenCalledOnce();
  });

  it("make a version current although the pointer to the current one is damaged or gone", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    await store.put(pointerKey("small"), bytesOf("{"), { contentType });
    await promote(store, "small", a);
    expect(await currentOf(store)).toBe(a);
    await store.remove(pointerKey("small"));
    await promote(store, "small", a);
    expect(await currentOf(store)).toBe(a);
  });

  it("refuse a version that is not there, or not whole, and leave the current one", async () => {
    const store = memoryStore();
    const [a = "", b] = await published(store, "a", "b");
    await expect(promote(store, "small", "0123456789ab")).rejects.toMatchObject({ code: "model_not_published" });
    const { manifest } = await artifactOf("a");
    const key = blobKey(manifest.files["model.int8.onnx"]?.sha256 ?? "");
    await store.put(key, bytesOf("x"), { contentType });
    await expect(promote(store, "small", a)).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: expect.stringMatching(/has 1 bytes instead of/),
    });
    await store.remove(key);
    await expect(promote(store, "small", a)).rejects.toMatchObject({ message: expect.stringContaining("is missing") });
    expect(await currentOf(store)).toBe(b);
  });
});

describe("verifyPublished", () => {
  it("reads every byte, and finds one that is wrong", async () => {
    const store = memoryStore();
    await published(store, "a");
    const { manifest, files } = await artifactOf("a");
    const sizes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    expect(await verifyPublished(store, "small")).toBe(sizes);
    const { sha256 = "", size = 0 } = manifest.files["model.int8.onnx"] ?? {};
    await store.put(blobKey(sha256), new Uint8Array(size), { contentType });
    await expect(verifyPublished(store, "small")).rejects.toMatchObject({ code: "artifact_corrupt" });
  });
});

describe("collectGarbage", () => {
  it("removes old versions and old objects that nothing needs, and keeps the current version", async () => {
    const store = memoryStore();
    const [a = "", b = ""] = await published(store, "a", "b");
    await store.put(blobKey("f".repeat(64)), bytesOf("left by a killed publisher"), { contentType });
    const young = { olderThanMs: 30 * DAY_MS };
    expect(await collectGarbage(store, young)).toEqual({ versions: [], objects: 0, bytes: 0, uploads: 0 });
    const dry = await collectGarbage(store, { ...young, now: later(31), dryRun: true });
    expect(await listVersions(store)).toHaveLength(2);
    const collected = await collectGarbage(store, { ...young, now: later(31) });
    expect(collected).toEqual(dry);
    expect(collected).toMatchObject({ versions: [`small@${a}`], objects: 1 });
    expect((await listVersions(store)).map(({ version }) => version)).toEqual([b]);
    expect(await store.head(blobKey("f".repeat(64)))).toBeUndefined();
    expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
  });

  it("keeps the objects of a version for an hour after it has removed the version", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    const collect = (now = Date.now()) => collectGarbage(store, { olderThanMs: 0, now });
    expect(await collect()).toMatchObject({ versions: [`small@${a}`], objects: 0 });
    expect(await collect()).toMatchObject({ versions: [], objects: 0 });
    // Both versions have the same tokenizer_config.json.
    expect(await collect(Date.now() + 3_700_000)).toMatchObject({ versions: [], objects: 3 });
    expect((await Array.fromAsync(store.list(""))).filter(({ key }) => key.includes(a))).toEqual([]);
    expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
  });

  it("keeps an old version that was current until recently, so that rollback leads back to it", async () => {
    const store = memoryStore();
    const aged = {
      ...store,
      list: async function* (prefix: string) {
        for await (const object of store.list(prefix)) {
          const isNew = object.key === pointerKey("small");
          yield { ...object, modified: new Date(object.modified.getTime() - (isNew ? 0 : 60 * DAY_MS)) };
        }
      },
    };
    const [a = "", b = "", c = ""] = await published(store, "a", "b", "c");
    const dry = (days: number) => collectGarbage(aged, { olderThanMs: 30 * DAY_MS, now: later(days), dryRun: true });
    expect(await dry(0)).toMatchObject({ versions: [`small@${a}`] });
    expect((await dry(31)).versions.toSorted()).toEqual([`small@${a}`, `small@${b}`].sort());
    await promote(store, "small", await previousVersion(store, "small"));
    // The version that a rollback left is not needed to go further back.
    expect(await currentOf(store)).toBe(b);
    expect(await dry(0)).toMatchObject({ versions: [`small@${c}`] });
  });

  it("keeps a current version that has no pointer of its own", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a");
    await store.remove(pointerKey("small", a));
    await collectGarbage(store, { olderThanMs: DAY_MS, now: later(9) });
    expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
  });

  it("removes nothing if a pointer cannot be read", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    await store.put(pointerKey("small", a), bytesOf("{"), { contentType });
    const before = await Array.fromAsync(store.list(""));
    await expect(collectGarbage(store, { olderThanMs: DAY_MS, now: later(31) })).rejects.toMatchObject({
      code: "pointer_invalid",
    });
    expect(await Array.fromAsync(store.list(""))).toEqual(before);
  });

  it("removes nothing if a pointer is that of another version", async () => {
    const store = memoryStore();
    const [a = "", b = ""] = await published(store, "a", "b", "c");
    const ofB = (await readObject(store, pointerKey("small", b))) ?? new Uint8Array();
    await store.put(pointerKey("small", a), ofB, { contentType });
    const before = await Array.fromAsync(store.list(""));
    await expect(collectGarbage(store, { olderThanMs: DAY_MS, now: later(31) })).rejects.toMatchObject({
      code: "pointer_invalid",
    });
    expect(await Array.fromAsync(store.list(""))).toEqual(before);
  });

  it("keeps a version that is published again after it was listed", async () => {
    const store = memoryStore();
    const [a = ""] = await published(store, "a", "b");
    const racing: ManagedStore = {
      ...store,
      async *list(prefix) {
        yield* await Array.fromAsync(store.list(prefix));
        if (prefix === "models/") await publish(await artifactOf("a"), store);
      },
    };
    expect(await collectGarbage(racing, { olderThanMs: DAY_MS, now: later(2) })).toMatchObject({ versions: [] });
    expect((await readPointer(store, "small", a)).version).toBe(a);
    expect(await currentOf(store)).toBe(a);
  });

  it("does not take away a version that is published at the same time", async () => {
    const store = memoryStore();
    const artifact = await artifactOf("a");
    const own = pointerKey("small", artifact.version);
    const racing: ManagedStore = {
      ...store,
      async put(key, bytes, options) {
        await store.put(key, bytes, options);
        if (key === pointerKey("small")) await store.remove(own);
      },
    };
    await publish(artifact, racing);
    expect((await readPointer(store, "small", artifact.version)).version).toBe(artifact.version);
  });

  it("keeps the objects of a version that is published while it runs", async () => {
    const store = memoryStore();
    await published(store, "a", "b");
    const [a = ""] = (await listVersions(store)).filter(({ isCurrent }) => !isCurrent).map(({ version }) => version);
    let began = false;
    const racing: ManagedStore = {
      ...store,
      async *list(prefix) {
        yield* store.list(prefix);
        // The same old files are published again, after the garbage was listed.
        if (prefix === "blobs/" && !began) {
          began = true;
          await publish(await artifactOf("a"), store);
        }
      },
    };
    await collectGarbage(racing, { olderThanMs: DAY_MS, now: later(2) });
    expect(await currentOf(store)).toBe(a);
    expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
  });
});

it("after any order of publish, promote, rollback and gc, the current version is whole", async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant("publish" as const), content: fc.constantFrom("a", "b", "c", "d") }),
    fc.record({ do: fc.constant("promote" as const), which: fc.nat(5) }),
    fc.record({ do: fc.constant("rollback" as const) }),
    fc.record({ do: fc.constant("gc" as const), days: fc.constantFrom(0, 5, 40) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const store = memoryStore();
      let wanted = (await publish(await artifactOf("first"), store)).version;
      for (const each of steps) {
        if (each.do === "publish") wanted = (await publish(await artifactOf(each.content), store)).version;
        if (each.do === "gc") await collectGarbage(store, { olderThanMs: 30 * DAY_MS, now: later(each.days) });
        if (each.do === "promote" || each.do === "rollback") {
          const versions = await listVersions(store, "small");
          const chosen =
            each.do === "promote"
              ? versions[each.which % versions.length]?.version
              : await previousVersion(store, "small").catch(() => undefined);
          if (chosen !== undefined) await promote(store, "small", chosen);
          wanted = chosen ?? wanted;
        }
        expect(await currentOf(store)).toBe(wanted);
        expect(await verifyPublished(store, "small")).toBeGreaterThan(0);
      }
    }),
    seeded(60),
  );
});
