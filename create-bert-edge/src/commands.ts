import { spawnSync } from "node:child_process";
import type { PackageManager } from "./package-manager.ts";
import { ScaffoldError } from "./scaffold-error.ts";

/** On Windows, package managers are scripts, which only a shell can start. */
const shell = process.platform === "win32";

/** Makes a Git repository, unless the folder is in one already or Git is not installed. */
export function initGit(folder: string): void {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: folder, stdio: "ignore" });
  if (git("rev-parse", "--is-inside-work-tree").status !== 0) git("init");
}

/** @throws ScaffoldError `manager_missing` */
export function assertInstalled(manager: PackageManager): void {
  if (spawnSync(manager, ["--version"], { stdio: "ignore", shell }).status === 0) return;
  throw new ScaffoldError(
    "manager_missing",
    `${manager} is not installed: \`${manager} --version\` does not work.`,
    "Install it, choose another one with --package-manager, or write only the files with --no-install.",
  );
}

/** @throws ScaffoldError `command_failed`; the project's files stay */
export function installDependencies(folder: string, manager: PackageManager): void {
  const { status } = spawnSync(manager, ["install"], { cwd: folder, stdio: "inherit", shell });
  if (status === 0) return;
  throw new ScaffoldError(
    "command_failed",
    `The files are in ${folder}, but \`${manager} install\` failed.`,
    `Correct the error of ${manager} above. Then follow the steps above.`,
  );
}
