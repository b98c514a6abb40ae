import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { addCommand } from "../../artifact/add-command.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { type OptionalPackage, packageMissing } from "../../artifact/optional-package.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../compile/files/whole-file.ts";

/**
 * Finds a file of an installed package. Searches `root` and the folders above it, as Node.js does.
 *
 * @throws BertEdgeError `package_missing`
 */
export function packageFile(root: string, name: OptionalPackage, file: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name, file);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) throw packageMissing(name);
  }
}

/**
 * Returns the version of an installed package; undefined if its package.json has none.
 *
 * @throws BertEdgeError `package_missing`
 */
export const packageVersion = (root: string, name: OptionalPackage): string | undefined =>
  (JSON.parse(wholeTextSync(packageFile(root, name, "package.json"), MAX_SETTINGS_BYTES)) as { version?: string })
    .version;

type Wrangler = Pick<
  typeof import("wrangler"),
  "getPlatformProxy" | "unstable_readConfig" | "experimental_readRawConfig"
>;

/** Folder of wrangler's local state, relative to the project's folder. Stock `wrangler dev` reads and writes it. */
export const WRANGLER_STATE = ".wrangler/state";

/**
 * Loads the project's own wrangler.
 *
 * @throws BertEdgeError `package_missing`
 */
export function requireWrangler(root: string): Wrangler {
  packageFile(root, "wrangler", "package.json");
  const { noDeprecation = false } = process;
  // Hides warnings about deprecated parts of Node that wrangler's packages use, because the user cannot change them.
  process.noDeprecation = true;
  try {
    return createRequire(join(root, "package.json"))("wrangler") as Wrangler;
  } finally {
    process.noDeprecation = noDeprecation;
  }
}

/**
 * Lowest version of wrangler for each command: the first with `dev --env-file`, and the first with `whoami --json`.
 * `publish --to r2-local:…` works with every version in the peer range.
 */
export const wranglerFor = { dev: "4.28.0", deploy: "4.65.0" } as const;

/** Returns the commands that a version of wrangler is too old for. */
export function commandsWithout(version: string): (keyof typeof wranglerFor)[] {
  const number = ([major = 0, minor = 0]: number[]) => major * 1_000 + minor;
  const parsed = (text: string) => number(text.split(".").map(Number));
  return (["dev", "deploy"] as const).filter((command) => parsed(version) < parsed(wranglerFor[command]));
}

/**
 * Checks that the project's wrangler is new enough for a command.
 *
 * @throws BertEdgeError `package_missing`
 */
export function assertWranglerFor(command: keyof typeof wranglerFor, root: string): void {
  const version = packageVersion(root, "wrangler");
  if (version === undefined || !commandsWithout(version).includes(command)) return;
  const needs = `\`bert-edge ${command}\` needs wrangler ${wranglerFor[command]} or newer`;
  throw new BertEdgeError("package_missing", `${needs}, and ${version} is installed.`, {
    hint: `Update it with: ${addCommand("wrangler@latest")}`,
  });
}
