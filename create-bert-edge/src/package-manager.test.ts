import { describe, expect, it, onTestFinished, vi } from "vitest";
import { addCommand } from "#sdk/artifact/add-command.ts";
import {
  addDependency,
  type PackageManager,
  packageManagers,
  runningPackageManager,
  runScript,
  runScriptWith,
} from "./package-manager.ts";

describe("runningPackageManager", () => {
  it.each([
    ["npm/11.6.0 node/v24.0.0 linux x64 workspaces/false", "npm"],
    ["pnpm/10.1.0 npm/? node/v24.0.0 linux x64", "pnpm"],
    ["yarn/1.22.22 npm/? node/v22.12.0 linux x64", "yarn"],
    ["bun/1.2.0 npm/? node/v24.0.0 linux x64", "bun"],
    ["cnpm/9.0.0", "npm"],
    [undefined, "npm"],
  ])("reads %s as %s", (userAgent, manager) => {
    expect(runningPackageManager(userAgent)).toBe(manager);
  });
});

describe("addDependency", () => {
  it.each(Object.keys(packageManagers) as PackageManager[])("is the SDK's command with %s", (manager) => {
    vi.spyOn(process, "cwd").mockReturnValue("/");
    vi.stubEnv("npm_config_user_agent", `${manager}/1.0.0`);
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
    });
    expect(addCommand("x")).toBe(`${addDependency[manager]} x`);
  });
});

describe("runScript", () => {
  it("avoids the commands of package managers that have the names of scripts", () => {
    expect(runScript("npm", "start")).toBe("npm start");
    expect(runScript("bun", "test")).toBe("bun run test");
    expect(runScriptWith("pnpm", "deploy", "--dry-run")).toBe("pnpm run deploy --dry-run");
    expect(runScriptWith("npm", "deploy", "--dry-run")).toBe("npm run deploy -- --dry-run");
  });
});
