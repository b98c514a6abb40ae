import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { lockOf } from "./file-lock.ts";

it("one holder at a time has the lock of a file", async () => {
  const path = join(await temporaryFolder(), "file");
  let holders = 0;
  let total = 0;
  const hold = async () => {
    await using _lock = await lockOf(path);
    expect(++holders).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    holders--;
    total++;
  };
  await Promise.all(Array.from({ length: 8 }, hold));
  expect(total).toBe(8);
  await expect(access(`${path}.lock`)).rejects.toMatchObject({ code: "ENOENT" });
});

it("takes the lock that a killed process has left", { timeout: 20_000 }, async () => {
  const path = join(await temporaryFolder(), "file");
  await writeFile(`${path}.lock`, "");
  await using lock = await lockOf(path);
  expect(lock).toBeDefined();
});

it("throws when there is no such folder", async () => {
  await expect(lockOf(join(await temporaryFolder(), "no", "file"))).rejects.toMatchObject({ code: "ENOENT" });
});
