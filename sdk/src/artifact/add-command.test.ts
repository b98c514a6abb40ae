import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { addCommand } from "./add-command.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Makes a project with a lockfile, and continues in a folder of this project. */
async function project(lockfile: string): Promise<void> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, lockfile), "");
  const inside = join(folder, "packages/app");
  await mkdir(inside, { recursive: true });
  vi.spyOn(process, "cwd").mockReturnValue(inside);
}

describe("addCommand", () => {
  it.each([
    ["package-lock.json", "npm install x"],
    ["pnpm-lock.yaml", "pnpm add x"],
    ["yarn.lock", "yarn add x"],
    ["bun.lock", "bun add x"],
  ])("is the command of the project's package manager, also if npx runs: %s", async (lockfile, command) => {
    await project(lockfile);
    vi.stubEnv("npm_config_user_agent", "npm/11.0.0 node/v24.0.0 linux x64");
    expect(addCommand("x")).toBe(command);
  });

  it.each([
    ["pnpm/10.1.0 npm/? node/v24.0.0 linux x64", "pnpm add x"],
    ["bun/1.4.0 npm/? node/v24.0.0 linux x64", "bun add x"],
    ["unknown/1.0", "npm install x"],
    ["", "npm install x"],
  ])("without a lockfile, is the command of the package manager that runs this: %j", async (agent, command) => {
    // A folder whose parents have no lockfile either, which a temporary folder cannot promise.
    vi.spyOn(process, "cwd").mockReturnValue("/no-such-folder/app");
    vi.stubEnv("npm_config_user_agent", agent);
    expect(addCommand("x")).toBe(command);
  });
});
