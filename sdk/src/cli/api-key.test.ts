import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hubToken } from "../compile/checkpoint/hub/settings.ts";
import { memoryStore } from "../storage/memory.ts";
import { firstPlainKey, readApiKey } from "./api-key.ts";
import { readSecrets } from "./deploy/read-secrets.ts";
import { signingOf } from "./signing.ts";

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

it("files with keys are refused by their size, before they are read", async () => {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "keys");
  await writeFile(file, "API_KEYS=one\n");
  await truncate(file, 60e6);
  const refused = { code: "file_too_large", message: expect.stringContaining(`${file} has 60000000 bytes`) };
  expect(() => readApiKey(file)).toThrow(expect.objectContaining(refused));
  expect(() => readSecrets(file)).toThrow(expect.objectContaining(refused));
  expect(() => hubToken({ HF_TOKEN_PATH: file })).toThrow(expect.objectContaining(refused));
  await expect(signingOf(memoryStore(), { signingKey: file })).rejects.toMatchObject(refused);
});
