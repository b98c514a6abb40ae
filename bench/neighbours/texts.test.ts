import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeTinyData } from "../tiny-data.ts";
import { readTexts } from "./texts.ts";

it("reads each text once, and takes the same ones each time", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-texts-"));
  const { sts, retrieval: scifact } = await writeTinyData(folder.path);
  const all = await readTexts({ sts, scifact }, 100);
  expect(all.map(({ texts, available }) => [texts.length, new Set(texts).size, available])).toEqual([
    [16, 16, 16],
    [16, 16, 16],
  ]);
  const some = await readTexts({ sts, scifact }, 5);
  expect(some.map(({ texts }) => texts)).toEqual(all.map(({ texts }) => texts.slice(0, 5)));
  expect(some.map(({ available }) => available)).toEqual([16, 16]);
  expect(all[0]?.texts).not.toEqual(all[0]?.texts.toSorted());
});
