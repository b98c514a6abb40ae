import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";

const MODULE = join(import.meta.dirname, "disposable-folder.ts");

/** Runs a script that has made a folder, in a process with its own folder for temporary files. */
async function start(script: string) {
  const tmp = await temporaryFolder();
  const code = `import { disposableFolder } from ${JSON.stringify(MODULE)};
    const folder = disposableFolder("test");
    console.log("made");
    ${script}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, TMPDIR: tmp },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  await once(child.stdout, "data");
  return { child, exit, tmp };
}

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is removed when %s ends the process", async (signal) => {
  const { child, exit, tmp } = await start("setInterval(() => {}, 1000);");
  expect(await readdir(tmp)).toHaveLength(1);
  child.kill(signal);
  expect(await exit).toEqual([null, signal]);
  expect(await readdir(tmp)).toEqual([]);
});

it("is removed when the process exits", async () => {
  const { exit, tmp } = await start("setTimeout(() => process.exit(0), 100);");
  expect(await exit).toEqual([0, null]);
  expect(await readdir(tmp)).toEqual([]);
});

it("is removed when others listen to the signal, too", async () => {
  const { child, exit, tmp } = await start(`
    process.on("SIGINT", () => setTimeout(() => process.exit(7), 100));
    setInterval(() => {}, 1000);`);
  child.kill("SIGINT");
  expect(await exit).toEqual([7, null]);
  expect(await readdir(tmp)).toEqual([]);
});

it("leaves signals alone when it is disposed", async () => {
  const { child, exit, tmp } = await start("folder[Symbol.dispose](); setInterval(() => {}, 1000);");
  await expect.poll(() => readdir(tmp)).toEqual([]);
  child.kill("SIGINT");
  expect(await exit).toEqual([null, "SIGINT"]);
});
