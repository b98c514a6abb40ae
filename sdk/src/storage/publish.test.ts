import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readObject } from "#test/fixtures/read-object.ts";
import { recordingStore } from "#test/fixtures/recording-store.ts";
import { bytesOf, smallArtifact, textOf } from "#test/fixtures/small-artifact.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import type { ManifestFile } from "../artifact/manifest.ts";
import { sha256Hex } from "../artifact/sha256.ts";
import { fsStore } from "./fs.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { openPublished, readPointer } from "./published-artifact.ts";
import type { ObjectStore, WritableStore } from "./store.ts";

/** Reads the current model: its version, and the text of each file by name. */
async function readAll(store: ObjectStore): Promise<{ version: string; files: Record<string, string> }> {
  const artifact = await openPublished(store, await readPointer(store, "small"));
  const files: Record<string, string> = {};
  for (const name of Object.keys(artifact.manifest.files)) files[name] = textOf(await artifact.read(name));
  return { version: artifact.version, files };
}

type SmallArtifact = Awaited<ReturnType<typeof smallArtifact>>;
const whole = ({ version, files }: SmallArtifact) => ({
  version,
  files: Object.fromEntries([...files].map(([name, bytes]) => [name, textOf(bytes)])),
});

describe("publish", () => {
  it("publishes a complete model under its version", async () => {
    const store = memoryStore();
    const artifact = await smallArtifact();
    await publish(artifact, store);
    expect(await readAll(store)).toEqual(whole(artifact));
  });

  it("writes the files first, then the manifest, and the pointers last", async () => {
    const store = recordingStore(memoryStore());
    const artifact = await smallArtifact();
    await publish(artifact, store);
    const files = Object.values(artifact.manifest.files).map(({ sha256 }) => blobKey(sha256));
    const manifest = blobKey(await sha256Hex(artifact.manifestBytes));
    expect(store.puts).toEqual([...files, manifest, pointerKey("small", artifact.version), pointerKey("small")]);
  });

  it.each([
    ["truncated", (bytes: Uint8Array<ArrayBuffer>) => bytes.slice(0, -1)],
    ["empty", () => new Uint8Array()],
    ["too long", (bytes: Uint8Array<ArrayBuffer>) => Uint8Array.of(...bytes, 0)],
  ])("writes objects again that the store has, but %s", async (_, damage) => {
    const store = memoryStore();
    const artifact = await smallArtifact();
    const contents = [...artifact.files.values(), artifact.manifestBytes];
    for (const bytes of contents) {
      await store.put(blobKey(await sha256Hex(bytes)), damage(bytes), { contentType: "application/octet-stream" });
    }
    expect(await publish(artifact, store)).toMatchObject({ uploaded: contents.length, reused: 0 });
    expect(await readAll(store)).toEqual(whole(artifact));
  });

  it("does not read what the store has, unless it is to verify; then it repairs it before readers see it", async () => {
    const objects = new Map<string, Uint8Array<ArrayBuffer>>();
    const store = memoryStore(objects);
    const artifact = await smallArtifact();
    await publish(artifact, store);
    const files = Object.values(artifact.manifest.files).map(({ sha256 }) => blobKey(sha256));
    const damagedKeys = [files[0] ?? "", blobKey(await sha256Hex(artifact.manifestBytes))];
    for (const key of damagedKeys) objects.get(key)?.fill(0);
    expect(await publish(artifact, store)).toMatchObject({ uploaded: 0, reused: 4 });
    const recorded = recordingStore(store);
    const bytes = [...artifact.files.values(), artifact.manifestBytes].reduce((sum, { length }) => sum + length, 0);
    const result = await publish(artifact, recorded, { verify: true });
    expect(result).toMatchObject({ uploaded: 2, reused: 2, verifiedBytes: bytes });
    expect(recorded.puts).toEqual([...damagedKeys, pointerKey("small", artifact.version), pointerKey("small")]);
    expect(await readAll(store)).toEqual(whole(artifact));
  });

  it("makes nothing current that a store changes while it writes, if it is to verify", async () => {
    const store = memoryStore();
    const old = await smallArtifact("old");
    await publish(old, store);
    const zeroing: WritableStore = {
      ...store,
      put: (key, bytes, options) =>
        store.put(key, key.startsWith("blobs/") ? new Uint8Array(bytes.length) : bytes, options),
    };
    await expect(publish(await smallArtifact("next"), zeroing, { verify: true })).rejects.toMatchObject({
      code: "artifact_corrupt",
      message: expect.stringContaining("does not match its SHA-256, although it was just written"),
    });
    expect(await readAll(store)).toEqual(whole(old));
  });

  it.each([
    ["the pointer to the current version", undefined],
    ["its own pointer", "own"],
  ])("notices another version in %s, if it is to verify", async (_, which) => {
    const store = memoryStore();
    const [old, next] = [await smallArtifact("old"), await smallArtifact("next")];
    await publish(old, store);
    const other = textOf((await readObject(store, pointerKey("small"))) ?? new Uint8Array());
    const replaced = pointerKey("small", which && next.version);
    const racing: WritableStore = {
      ...store,
      async put(key, bytes, options) {
        await store.put(key, bytes, options);
        if (key === pointerKey("small")) await store.put(replaced, bytesOf(other), { contentType: "application/json" });
      },
    };
    await expect(publish(next, racing, { verify: true })).rejects.toMatchObject({
      code: which ? "pointer_invalid" : "publish_conflict",
    });
  });

  it("writes no file under the hash of another one", async () => {
    const store = memoryStore();
    const [victim, attacker] = [await smallArtifact("victim"), await smallArtifact("something longer")];
    await publish(victim, store);
    const file = "model.int8.onnx";
    const { sha256 = "" } = victim.manifest.files[file] ?? {};
    const own = attacker.manifest.files[file] as ManifestFile;
    const files = { ...attacker.manifest.files, [file]: { ...own, sha256, chunks: [own.sha256] } };
    const manifest = { ...attacker.manifest, name: "other", files };
    const read = (name: string) => Promise.resolve(attacker.files.get(name) as Uint8Array<ArrayBuffer>);
    const forged = { ...attacker, manifest, manifestBytes: bytesOf(JSON.stringify(manifest)), read };
    await expect(publish(forged, store)).rejects.toMatchObject({ code: "artifact_corrupt" });
    expect(await readAll(store)).toEqual(whole(victim));
  });

  it("reports how many objects it wrote and how many the store had already", async () => {
    const store = memoryStore();
    const first = await smallArtifact("first");
    const bytes = [...first.files.values(), first.manifestBytes].reduce((sum, { length }) => sum + length, 0);
    expect(await publish(first, store)).toEqual({
      name: "small",
      version: first.version,
      uploaded: 4,
      reused: 0,
      bytes,
    });
    // Both artifacts have the same tokenizer_config.json.
    const second = await smallArtifact("second");
    const seen: string[] = [];
    const result = await publish(second, store, { onObject: (key, state) => seen.push(`${state} ${key}`) });
    expect(result).toMatchObject({ uploaded: 3, reused: 1 });
    const shared = second.manifest.files["tokenizer_config.json"]?.sha256 ?? "";
    expect(seen.filter((line) => line.startsWith("reused"))).toEqual([`reused ${blobKey(shared)}`]);
    expect(seen).toHaveLength(4);
  });

  it("writes only the pointers the second time, and reads no file", async () => {
    const store = memoryStore();
    const artifact = await smallArtifact();
    await publish(artifact, store);
    const again = recordingStore(store);
    const unreadable = { ...artifact, read: () => Promise.reject(new Error("read again")) };
    const result = await publish(unreadable, again);
    expect(result).toMatchObject({ uploaded: 0, reused: 4, bytes: 0 });
    expect(again.puts).toEqual([pointerKey("small", artifact.version), pointerKey("small")]);
  });

  it("leaves the old model current and complete, at whichever write it fails", async () => {
    const [old, next] = [await smallArtifact("old"), await smallArtifact("next")];
    const succeeding = recordingStore(memoryStore());
    await publish(old, succeeding);
    const before = succeeding.puts.length;
    await publish(next, succeeding);
    for (let failAt = 0; failAt < succeeding.puts.length - before; failAt++) {
      const store = memoryStore();
      await publish(old, store);
      await expect(publish(next, recordingStore(store, failAt))).rejects.toThrow("The network is down.");
      expect(await readAll(store), `failing at put ${failAt}`).toEqual(whole(old));
    }
  });

  it("completes an interrupted publication by writing only the missing objects", async () => {
    const store = memoryStore();
    const artifact = await smallArtifact();
    await expect(publish(artifact, recordingStore(store, 2))).rejects.toThrow("The network is down.");
    await expect(readPointer(store, "small")).rejects.toMatchObject({ code: "model_not_published" });
    expect(await publish(artifact, store)).toMatchObject({ uploaded: 2, reused: 2 });
    expect(await readAll(store)).toEqual(whole(artifact));
  });

  it("publishes nothing of an artifact that is damaged", async () => {
    const store = memoryStore();
    const old = await smallArtifact("old");
    await publish(old, store);
    const damaged = await smallArtifact("next");
    damaged.files.set("model.int8.onnx", bytesOf("model of NEXT"));
    await expect(publish(damaged, store)).rejects.toMatchObject({ code: "artifact_corrupt" });
    expect(await readAll(store)).toEqual(whole(old));
  });

  it("never shows readers a mix of two versions while it runs", async () => {
    const fs = fsStore(await temporaryFolder());
    // Every put takes several turns of the event loop, as over a network.
    const slow: WritableStore = {
      ...fs,
      put: async (key, bytes, options) => {
        for (let turn = 0; turn < 5; turn++) await setImmediate();
        await fs.put(key, bytes, options);
      },
    };
    const versions = await Promise.all([1, 2, 3, 4, 5].map((n) => smallArtifact(`version ${n}`)));
    const expected = new Map(versions.map((artifact) => [artifact.version, whole(artifact)]));
    await publish(versions[0] as SmallArtifact, slow);

    const seen = new Set<string>();
    let publishing = true;
    const reader = async () => {
      while (publishing) {
        const model = await readAll(fs);
        expect(model).toEqual(expected.get(model.version));
        seen.add(model.version);
      }
    };
    const publisher = async () => {
      for (let turn = 1; seen.size < versions.length && turn < 1000; turn++) {
        await publish(versions[turn % versions.length] as SmallArtifact, slow);
      }
      publishing = false;
    };
    await Promise.all([publisher(), reader(), reader()]);
    expect(seen.size).toBe(versions.length);
  });
});
