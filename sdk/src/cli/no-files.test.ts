import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { preparedTiny } from "#test/fixtures/prepared-tiny.ts";
import { runCommandLine } from "#test/fixtures/run-command-line.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

// A command that waits for a pipe, or reads a device to its end, would not end.

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});
const at = (name: string) => join(folder, name);

/** Entries that are no files, and how messages call them. */
const kinds: Record<string, (path: string) => unknown> = {
  "a named pipe": (path) => execFileSync("mkfifo", [path]),
  "a device": (path) => symlink("/dev/zero", path),
  "a folder": (path) => mkdir(path),
  async "a socket"(path) {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(path, resolve));
    onTestFinished(() => void server.close());
  },
};
const names = Object.keys(kinds);
const put = (kind: string, path: string) => kinds[kind]?.(path);

/** Runs a command, and returns what it says in our words. */
async function said(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runCommandLine(args, { cwd: folder, env: { HOME: folder } });
  const said = stdout + stderr;
  expect(said).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
  return said;
}

/** Runs a command that must fail. */
async function refusal(...args: readonly string[]): Promise<string> {
  const text = await said(...args);
  expect(text).toMatch(/Error [a-z_]+:/);
  return text;
}

describe.each(names)("%s in the place of a file", (kind) => {
  it.each(["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "modules.json"])(
    "%s of a model folder",
    async (file) => {
      await mkdir(at("model"));
      await writePreparableCheckpoint(at("model"));
      await rm(at(`model/${file}`), { force: true });
      await put(kind, at(`model/${file}`));
      expect(await refusal("prepare", "model", "--out", "out")).toContain("model");
      // It can also say what it found in the other files.
      expect(await said("inspect", "model")).not.toBe("");
    },
  );

  it("an ONNX file", async () => {
    await put(kind, at("x.onnx"));
    for (const args of [
      ["optimize", "x.onnx", "y.onnx"],
      ["inspect", "x.onnx"],
      ["prepare", "x.onnx", "--out", "o"],
    ])
      expect(await refusal(...args)).toContain("x.onnx");
    expect(await refusal("quantize", "x.onnx", "y.onnx", "--mode", "int8-dynamic")).toContain("x.onnx");
  });

  it("files of texts, golden answers and tasks", async () => {
    await mkdir(at("model"));
    await writePreparableCheckpoint(at("model"));
    await put(kind, at("given"));
    for (const option of ["--golden", "--calibration", "--sts"])
      expect(await refusal("prepare", "model", "--out", "out", option, "given"), option).toContain("given");
    const artifact = await preparedTiny();
    for (const option of ["--golden", "--sts"])
      expect(await refusal("verify", artifact, option, "given")).toContain("given");
  });

  it("files of keys", async () => {
    await put(kind, at("given"));
    expect(
      await refusal("check", "http://127.0.0.1:9", "--model", await preparedTiny(), "--key-file", "given"),
    ).toContain("given");
    expect(await refusal("publish", await preparedTiny(), "--to", "folder:f", "--signing-key", "given")).toContain(
      "given",
    );
  });

  it("variables of a project", async () => {
    await writeFile(at("wrangler.toml"), 'name = "api"\nmain = "edge.ts"\ncompatibility_date = "2026-01-01"\n');
    await symlink(join(import.meta.dirname, "../../../node_modules"), at("node_modules"));
    await put(kind, at(".dev.vars"));
    expect((await said("doctor")).replace(/\n +/g, " ")).toContain(`.dev.vars is ${kind}, not a file`);
  });

  it("input and output of batch", async () => {
    const artifact = await preparedTiny();
    await put(kind, at("given"));
    expect(await refusal("batch", "given", "out.jsonl", "--model", artifact)).toContain(`given is ${kind}, not a file`);
    await writeFile(at("in.jsonl"), '{"id":"a","text":"a"}\n');
    expect(await refusal("batch", "in.jsonl", "given", "--model", artifact)).toContain("given");
    for (const name of ["o.rejected.jsonl", "o.journal.json"]) {
      await put(kind, at(name));
      expect(await refusal("batch", "in.jsonl", "o.jsonl", "--model", artifact)).toContain(name);
      await rm(at(name), { recursive: true });
    }
  });

  it("files of an artifact and of a store of files", async () => {
    const artifact = at("artifact");
    await cp(await preparedTiny(), artifact, { recursive: true });
    for (const file of ["measurements.json", "tokenizer.safetensors", "manifest.json"]) {
      await rm(join(artifact, file), { recursive: true });
      await put(kind, join(artifact, file));
      if (file !== "measurements.json") expect(await refusal("verify", artifact)).toContain(file);
    }
    await mkdir(at("store/models/tiny"), { recursive: true });
    await put(kind, at("store/models/tiny/current.json"));
    expect(await refusal("promote", "tiny@0123456789ab", "--store", "folder:store")).toContain("tiny");
  });
});

it("a job writes through no link, and removes no device", async () => {
  const artifact = await preparedTiny();
  await writeFile(at("in.jsonl"), '{"id":"a","text":"a"}\n{"id":"b"}\n');
  await writeFile(at("victim"), "mine");
  for (const name of ["o.rejected.jsonl", "o.journal.json", "o.journal.json.tmp"]) await symlink("victim", at(name));
  const run = () => runCommandLine(["batch", "in.jsonl", "o.jsonl", "--model", artifact, "--restart"], { cwd: folder });
  expect(await run()).toMatchObject({ code: 0 });
  expect(await readFile(at("victim"), "utf8")).toBe("mine");
  // Somebody puts a link in the place of a file of a job that goes on.
  await rm(at("o.rejected.jsonl"));
  await symlink("victim", at("o.rejected.jsonl"));
  const { code, stderr } = await runCommandLine(["batch", "in.jsonl", "o.jsonl", "--model", artifact], { cwd: folder });
  expect([code, stderr]).toEqual([1, expect.stringContaining("o.rejected.jsonl cannot be written")]);
  expect([await readFile(at("victim"), "utf8"), await readlink(at("o.rejected.jsonl"))]).toEqual(["mine", "victim"]);
  expect((await stat("/dev/null")).isCharacterDevice()).toBe(true);
});
