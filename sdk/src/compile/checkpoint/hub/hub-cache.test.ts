import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { HubCache } from "./hub-cache.ts";

describe("HubCache", () => {
  it("keeps the commit of a revision", async () => {
    const cache = new HubCache(await temporaryFolder(), "org/model");
    await cache.setCommit("refs/pr/1", "a".repeat(40));
    expect(await cache.commitOf("refs/pr/1")).toBe("a".repeat(40));
    expect(await cache.commitOf("main")).toBeUndefined();
  });

  it("neither reads nor writes outside of its folder", async () => {
    const folder = await temporaryFolder();
    const cache = new HubCache(join(folder, "cache"), "org/model");
    for (const revision of ["../../../zz", "", ".."]) {
      await expect(cache.setCommit(revision, "a".repeat(40))).rejects.toThrow("leads out of the cache");
      await expect(cache.commitOf(revision)).rejects.toThrow("leads out of the cache");
    }
    expect(await readdir(folder)).toEqual([]);
  });
});
