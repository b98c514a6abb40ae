import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { runAction } from "#test/fixtures/run-command-line.ts";
import { type SmallVersion, smallVersion } from "#test/fixtures/small-version.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { GOLDEN_FILE } from "../artifact/golden.ts";
import { blobKey, pointerKey } from "../artifact/keys.ts";
import { importSigningKey, newSigningKey } from "../artifact/signing-key.ts";
import { fsStore } from "../storage/fs.ts";
import { publish } from "../storage/publish.ts";
import { readPointer } from "../storage/published-artifact.ts";
import { listCommand } from "./list.ts";
import { promoteCommand, rollbackCommand } from "./promote.ts";

afterEach(() => vi.unstubAllEnvs());

const golden = { "a text": [1, 0, 0, 0] };
const current = pointerKey("small");

/** Publishes versions to a folder, the last of which is current. */
async function publishedIn(...wanted: readonly SmallVersion[]) {
  const folder = await temporaryFolder();
  const store = fsStore(folder);
  const artifacts = await Promise.all(wanted.map(smallVersion));
  for (const artifact of artifacts) await publish(artifact, store);
  const place = ["--store", `folder:${folder}`] as const;
  const json = async (command: typeof promoteCommand, ...args: string[]) => {
    const { stdout, stderr } = await runAction(command, ...args, ...place, "--json");
    return { stderr, json: JSON.parse(stdout) };
  };
  return { folder, store, place, json, artifacts, versions: artifacts.map(({ version }) => version) };
}

it("rollback says whether vectors can be compared, and leaves a version whose golden texts are gone", async () => {
  const a = { content: "a", golden };
  const same = await publishedIn(a, { content: "b", golden });
  expect((await same.json(rollbackCommand, "small")).json).toMatchObject({ comparable: true });
  const other = await publishedIn(a, { content: "b", golden: { "a text": [0, 1, 0, 0] } });
  const { json, stderr } = await other.json(rollbackCommand, "small");
  expect([json.comparable, stderr]).toEqual([false, expect.stringMatching(/cannot be compared: embed/)]);

  const broken = await publishedIn(a, { content: "b", golden: { "a text": [0, 1, 0, 0] } });
  const { sha256 = "" } = broken.artifacts[1]?.manifest.files[GOLDEN_FILE] ?? {};
  await rm(join(broken.folder, blobKey(sha256)));
  const left = await broken.json(rollbackCommand, "small");
  const [old, next] = broken.versions;
  expect(left.json).toEqual({ name: "small", version: old, before: next, comparable: null });
  expect(left.stderr).toMatch(/could not be compared: .* is missing/);
  expect((await readPointer(broken.store, "small")).version).toBe(old);
});

it.each([
  ["damaged", (path: string) => writeFile(path, "{"), "pointer_invalid"],
  ["gone", (path: string) => rm(path), "model_not_published"],
])("promote replaces a pointer that is %s; rollback says that promote does", async (_, damage, code) => {
  const { folder, json, versions, store } = await publishedIn({ content: "a" }, { content: "b" });
  const [old = ""] = versions;
  await damage(join(folder, current));
  await expect(json(rollbackCommand, "small")).rejects.toMatchObject({
    code,
    message: expect.stringContaining("not known which version was current before"),
    hint: expect.stringContaining("promote"),
  });
  const { json: result, stderr } = await json(promoteCommand, `small@${old}`);
  expect(result).toEqual({ name: "small", version: old, before: null, comparable: null });
  expect(stderr).toContain("The current version is not known");
  expect((await readPointer(store, "small")).version).toBe(old);
});

it.each([
  ["rollback", rollbackCommand],
  ["list", listCommand],
])("%s takes only names of models", async (_, command) => {
  await expect(runAction(command, "../x", "--store", "folder:.")).rejects.toThrow(/not the name of a model/);
});

it("with a key, a version is promoted again after its signature has expired", async () => {
  const pem = await newSigningKey();
  const key = await importSigningKey(pem);
  const folder = await temporaryFolder();
  const artifact = await smallVersion({});
  await publish(artifact, fsStore(folder), { signing: { key, expires: new Date(1) } });
  vi.stubEnv("BERT_EDGE_SIGNING_KEY", pem);
  const place = ["--store", `folder:${folder}`];
  expect((await runAction(listCommand, ...place)).stdout).toContain("EXPIRED at 1970");
  await runAction(promoteCommand, `small@${artifact.version}`, ...place);
  const { stdout } = await runAction(listCommand, ...place);
  expect(stdout).toMatch(/current, signed as \d+ until 20\d\d/);
  expect(stdout).not.toContain("not verified");
});
