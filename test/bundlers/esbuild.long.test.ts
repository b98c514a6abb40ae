import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installedProject } from "../package/install.ts";
import { type Program, writePrograms } from "./programs.ts";

const exec = promisify(execFile);

let project: string;
/** A project with bert-edge and its optional packages. */
let complete: string;
/** Programs run here, where the repository's packages are not found. */
let away: string;
let expected: Awaited<ReturnType<typeof writePrograms>>;
beforeAll(async () => {
  [project, complete] = await Promise.all([installedProject({ peers: false }), installedProject({ peers: true })]);
  away = await mkdtemp(join(tmpdir(), "bert-edge-bundle-"));
  expected = await writePrograms(project);
});
afterAll(async () => {
  for (const folder of [project, complete, away]) if (folder) await rm(folder, { recursive: true, force: true });
});

const formats = [
  ["esm", "mjs"],
  ["cjs", "cjs"],
] as const;

describe.each(formats)("a bundle of esbuild as %s,", (format, extension) => {
  /** Builds a program in a project without optional packages, and returns what it prints in another place. */
  async function output(program: Program, external: string[] = [], place = away): Promise<string> {
    const folder = await mkdtemp(join(place, "run-"));
    const name = `${program}.${extension}`;
    await build({
      absWorkingDir: project,
      entryPoints: [`${program}.mjs`],
      outfile: join(folder, name),
      ...{ bundle: true, platform: "node", format, external, logLevel: "silent" },
    });
    expect(await readdir(folder)).toEqual([name]);
    const { stdout } = await exec(process.execPath, [name], { cwd: folder, env: expected.env });
    return stdout.trim();
  }

  it("embeds with the kernels that it contains", async () => {
    expect(await output("embed")).toBe(expected.vector);
  });

  it("embeds on several threads", async () => {
    expect(await output("pool")).toBe(expected.vector);
  });

  it("names an optional package that is missing, and runs once it is installed beside the bundle", async () => {
    expect(JSON.parse(await output("peers"))).toEqual({
      code: "package_missing",
      message: expect.stringContaining("onnxruntime-node is not installed"),
      hint: "Add it with: npm install onnxruntime-node",
    });
    expect(await output("peers", ["onnxruntime-node"], complete)).toMatch(/^[0-9a-f]{128}$/);
  });

  it("says that the compiler cannot be part of it, and runs when the hint is followed", async () => {
    expect(JSON.parse(await output("compile", ["onnxruntime-node"], complete))).toEqual({
      code: "package_bundled",
      message: expect.stringContaining("a bundle has no such files"),
      hint: expect.stringContaining("esbuild, Bun and tsup: --external bert-edge"),
    });
    expect(await output("compile", ["onnxruntime-node", "bert-edge"], complete)).toBe("prepared");
  });
});
