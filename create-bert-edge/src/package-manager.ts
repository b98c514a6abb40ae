import { existsSync } from "node:fs";
import { join } from "node:path";

/** Package managers, with an explanation for the prompt. */
export const packageManagers = { npm: "", pnpm: "", yarn: "", bun: "" };
export type PackageManager = keyof typeof packageManagers;

/**
 * Reads the package manager that started this process.
 *
 * @param userAgent value of npm_config_user_agent, such as `pnpm/10.1.0 npm/? node/v24.0.0 linux x64`
 * @returns npm if the variable is missing or names another program
 */
export function runningPackageManager(userAgent = ""): PackageManager {
  const name = userAgent.split("/")[0] ?? "";
  return Object.hasOwn(packageManagers, name) ? (name as PackageManager) : "npm";
}

const lockfiles: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ["package-lock.json"],
  pnpm: ["pnpm-lock.yaml"],
  yarn: ["yarn.lock"],
  bun: ["bun.lock", "bun.lockb"],
};

/** Returns the package manager whose lockfile a project has. */
export const lockedPackageManager = (folder: string): PackageManager | undefined =>
  (Object.keys(lockfiles) as PackageManager[]).find((manager) =>
    lockfiles[manager].some((file) => existsSync(join(folder, file))),
  );

/** The command that runs a script of package.json. Names of scripts can be commands of their own: `pnpm deploy`, `bun test`. */
export const runScript = (manager: PackageManager, script: string): string =>
  manager !== "bun" && (script === "start" || script === "test") ? `${manager} ${script}` : `${manager} run ${script}`;

/** The command that runs a script of package.json with arguments. Only npm needs a separator. */
export const runScriptWith = (manager: PackageManager, script: string, args: string): string =>
  `${runScript(manager, script)} ${manager === "npm" ? "-- " : ""}${args}`;

/** The beginning of a command that runs an installed program. */
export const runProgram: Readonly<Record<PackageManager, string>> = {
  npm: "npx",
  pnpm: "pnpm exec",
  yarn: "yarn",
  bun: "bunx",
};

/**
 * The beginning of a command that adds a package, in a project of a known package manager. The SDK has the same commands in
 * add-command.ts, where it has to find out the package manager first.
 */
export const addDependency: Readonly<Record<PackageManager, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
};
