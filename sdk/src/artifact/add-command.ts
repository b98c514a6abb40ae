const commands: Readonly<Record<string, string>> = {
  npm: "npm install",
  pnpm: "pnpm add",
  yarn: "yarn add",
  bun: "bun add",
};

const lockfiles: Readonly<Record<string, string>> = {
  "package-lock.json": "npm",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};

/**
 * Returns the command that adds a package to the project in the current folder. The package manager is the one whose
 * lockfile is in this folder or the nearest folder above it. Without a lockfile, it is the one that started this process.
 */
export function addCommand(name: string): string {
  const manager = lockfileManager() ?? startedBy() ?? "npm";
  return `${commands[manager] ?? commands["npm"]} ${name}`;
}

/** Returns the package manager that started this process. Each one sets a user agent such as "pnpm/10.1.0 npm/? node/v24.0.0 linux". */
function startedBy(): string | undefined {
  return /^[a-z]+/.exec(globalThis.process?.env?.["npm_config_user_agent"] ?? "")?.[0];
}

function lockfileManager(): string | undefined {
  // This file is also part of Workers, which have no file system and must not import one.
  const fs = globalThis.process?.getBuiltinModule?.("node:fs");
  const path = globalThis.process?.getBuiltinModule?.("node:path");
  if (!fs || !path) return undefined;
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const found = Object.keys(lockfiles).find((file) => fs.existsSync(path.join(folder, file)));
    if (found) return lockfiles[found];
    if (folder === path.dirname(folder)) return undefined;
  }
}
