import { readdir, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { openStageCache } from "./stage-cache.ts";

const RESULT = { numbers: Float32Array.of(1.5, Number.NaN), nested: { names: ["a"], none: undefined } };

async function cacheAt(maxBytes?: number) {
  const [root, folder] = [join(await temporaryFolder(), "stages"), await temporaryFolder()];
  return { root, folder, cache: openStageCache(root, maxBytes) };
}

/** Keeps a result with a file. */
async function withFile({ folder, cache }: Awaited<ReturnType<typeof cacheAt>>, key: string, text = "weights") {
  const path = join(folder, `${key}.onnx`);
  await writeFile(path, text);
  await cache.keep(key, { ...RESULT, path });
}

describe("a stage cache", () => {
  it("returns what was kept, typed arrays and NaN included, and nothing else", async () => {
    const { cache, folder } = await cacheAt();
    expect(await cache.find("key", folder)).toBeUndefined();
    await cache.keep("key", RESULT);
    expect(await cache.find("key", folder)).toEqual(RESULT);
    expect(await cache.find("other", folder)).toBeUndefined();
  });

  it("returns a copy of the file, which may be moved", async () => {
    const kept = await cacheAt();
    await withFile(kept, "key");
    for (let time = 0; time < 2; time++) {
      const found = await kept.cache.find<{ path: string }>("key", await temporaryFolder());
      expect(await readFile(found?.path ?? "", "utf8")).toBe("weights");
      await writeFile(found?.path ?? "", "changed by the caller");
    }
  });

  it.each<[string, (entry: string) => Promise<void>]>([
    ["a file with other bytes", (entry) => writeFile(join(entry, "file"), "Weights")],
    ["a file that ends early", (entry) => truncate(join(entry, "file"), 3)],
    ["a result that ends early", (entry) => truncate(join(entry, "result"), 10)],
    ["a result that is text", (entry) => writeFile(join(entry, "result"), "{}")],
  ])("takes %s for missing, and removes it", async (_, damage) => {
    const kept = await cacheAt();
    await withFile(kept, "key");
    await damage(join(kept.root, "key"));
    expect(await kept.cache.find("key", kept.folder)).toBeUndefined();
    expect(await readdir(kept.root)).toEqual([]);
    await withFile(kept, "key");
    expect(await kept.cache.find("key", kept.folder)).toBeDefined();
  });

  it("removes the results that were not used for the longest time, when all have more than the maximum", async () => {
    const kept = await cacheAt(2500);
    const text = "x".repeat(1000);
    for (const [i, key] of ["first", "second"].entries()) {
      await withFile(kept, key, text);
      await utimes(join(kept.root, key), 1000 + i, 1000 + i);
    }
    await kept.cache.find("first", kept.folder);
    await withFile(kept, "third", text);
    expect((await readdir(kept.root)).sort()).toEqual(["first", "third"]);
  });

  it("keeps nothing, and fails nothing, where it cannot write", async () => {
    const { root, cache, folder } = await cacheAt();
    await writeFile(root, "a file where the folder should be");
    await cache.keep("key", RESULT);
    expect(await cache.find("key", folder)).toBeUndefined();
    expect(await readFile(root, "utf8")).toBe("a file where the folder should be");
  });
});
