import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { firstPlainKey, readApiKey } from "./api-key.ts";

const hash = `sha256:${"0".repeat(64)}`;

it.each([
  ["", undefined],
  [" , ", undefined],
  ["one,two", "one"],
  [", b,c", "b"],
  ["a$MODEL", "a$MODEL"],
  [`${hash}, web:${hash},one`, "one"],
  [hash, undefined],
  [JSON.stringify([{ key: hash, name: "web" }, { key: "one" }]), "one"],
])("firstPlainKey(%j) is %j", (setting, key) => {
  expect(firstPlainKey(setting)).toBe(key);
});

it.each([
  ["one\n", "one"],
  ["API_KEYS=one\n", "one"],
  ['# secrets\nREGION_KEY=r\nAPI_KEYS = "one,two"\n', "one"],
  [`API_KEYS=${hash},two`, "two"],
  ["API_KEYS=\n", undefined],
  [`API_KEYS=${hash}`, undefined],
  ["REGION_KEY=a b\n", undefined],
])("readApiKey(a file with %j) is %j", async (content, key) => {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "keys");
  await writeFile(file, content);
  if (key === undefined) expect(() => readApiKey(file)).toThrow("has no API key");
  else expect(readApiKey(file)).toBe(key);
});
