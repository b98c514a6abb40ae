import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { runAction } from "#test/fixtures/run-command-line.ts";
import { smallVersion } from "#test/fixtures/small-version.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { pointerKey } from "../artifact/keys.ts";
import { importSigningKey, newSigningKey } from "../artifact/signing-key.ts";
import { fsStore } from "../storage/fs.ts";
import { publish } from "../storage/publish.ts";
import { gcCommand } from "./gc.ts";
import { listCommand } from "./list.ts";

afterEach(() => vi.unstubAllEnvs());

it("marks a model whose pointer is damaged, and lists the others", async () => {
  const folder = await temporaryFolder();
  const store = fsStore(folder);
  for (const name of ["bad", "good"]) await publish(await smallVersion({ fields: { name } }), store);
  await writeFile(join(folder, pointerKey("bad")), "{");
  const { stdout, stderr } = await runAction(listCommand, "--store", `folder:${folder}`);
  expect(stdout).toMatch(/^bad .* INVALID: pointer_invalid$/m);
  expect(stdout).toMatch(/^good .* current$/m);
  expect(stderr).toContain("models/bad/current.json");
  const { stdout: text } = await runAction(listCommand, "--store", `folder:${folder}`, "--json");
  expect(JSON.parse(text)).toMatchObject([
    { name: "bad", isCurrent: false, unreadable: { code: "pointer_invalid" } },
    { name: "good", isCurrent: true },
  ]);
});

it("says whether it has verified a signature", async () => {
  const folder = await temporaryFolder();
  const key = await importSigningKey(await newSigningKey());
  const expires = new Date(Date.now() + 86_400_000);
  await publish(await smallVersion({}), fsStore(folder), { signing: { key, expires } });
  const list = () => runAction(listCommand, "small", "--store", `folder:${folder}`);
  expect((await list()).stdout).toMatch(/signed as \d+ until .*, not verified$/m);
  vi.stubEnv("MODEL_SIGNERS", key.signer);
  expect((await list()).stdout).toMatch(/signed as \d+ until \S+$/m);
  vi.stubEnv("MODEL_SIGNERS", `ed25519:${"0".repeat(64)}`);
  expect((await list()).stdout).toMatch(/INVALID: signature_invalid$/m);
});

it("refuses a model and a folder that do not exist; gc refuses such a folder too", async () => {
  const folder = await temporaryFolder();
  const place = ["--store", `folder:${folder}`] as const;
  await expect(runAction(listCommand, "typo", ...place)).rejects.toMatchObject({ code: "model_not_published" });
  for (const kind of ["folder", "assets"]) {
    const nowhere = ["--store", `${kind}:${folder}/typo`] as const;
    await expect(runAction(listCommand, ...nowhere)).rejects.toMatchObject({ code: "place_missing" });
    await expect(runAction(gcCommand, ...nowhere)).rejects.toMatchObject({ code: "place_missing" });
  }
});

it("writes nothing, not even to find out whether it may, nor does gc --dry-run", async () => {
  const folder = await temporaryFolder();
  await publish(await smallVersion({}), fsStore(folder));
  const before = await stat(folder);
  const place = ["--store", `folder:${folder}`] as const;
  expect((await runAction(listCommand, ...place)).stdout).toContain("current");
  expect((await runAction(gcCommand, ...place, "--dry-run")).stdout).toContain("Would remove 0 versions");
  expect((await stat(folder)).mtimeMs).toBe(before.mtimeMs);
});
