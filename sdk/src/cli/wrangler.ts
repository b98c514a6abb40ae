import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { addCommand } from "../artifact/add-command.ts";
import { BertEdgeError } from "../artifact/error.ts";
import { packageFile, packageVersion } from "./package-file.ts";

type Wrangler = Pick<typeof import("wrangler"), "getPlatformProxy" | "unstable_readConfig">;

/** Folder of wrangler's local state, relative to the project's folder. Stock `wrangler dev` reads and writes it. */
export const WRANGLER_STATE = ".wrangler/state";

/** An R2 binding in the configuration. Locally, wrangler prefers the bucket for previews. */
interface R2Binding {
  binding: string;
  bucket_name?: string;
  preview_bucket_name?: string;
}

/** The part of wrangler's configuration that bert-edge reads. */
export interface WranglerConfig {
  /** The configuration file. */
  readonly path: string;
  /** The Worker's entry file. */
  readonly main: string | undefined;
  /** Names of the models in the variable MODEL of `[vars]`; empty without it. The first is the default. */
  readonly models: readonly string[];
  /** Name of the local bucket of each R2 binding. */
  readonly buckets: ReadonlyMap<string, string>;
  /** Name of the deployed bucket of each R2 binding. */
  readonly deployedBuckets: ReadonlyMap<string, string>;
  /** Name of the Worker. */
  readonly name: string | undefined;
  /** Cloudflare's account ID. */
  readonly account: string | undefined;
  /** CPU time per request in `[limits]`, in ms. The free plan takes no such setting. */
  readonly cpuMs: number | undefined;
  /** Folder of static assets. */
  readonly assets: string | undefined;
}

/**
 * Loads the project's own wrangler.
 *
 * @throws BertEdgeError `package_missing`
 */
export function requireWrangler(root: string): Wrangler {
  packageFile(root, "wrangler", "package.json");
  const { noDeprecation = false } = process;
  // wrangler's packages use deprecated parts of Node. Developers can do nothing about these warnings.
  process.noDeprecation = true;
  try {
    return createRequire(join(root, "package.json"))("wrangler") as Wrangler;
  } finally {
    process.noDeprecation = noDeprecation;
  }
}

/**
 * Lowest version of wrangler for each command: the first with `dev --env-file`, and the first with `whoami --json`.
 * `publish --to r2-local:…` needs no more than the peer range.
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

/** Returns the path of the project's configuration of wrangler; undefined if there is none. */
export const findWranglerConfig = (root: string): string | undefined =>
  ["wrangler.json", "wrangler.jsonc", "wrangler.toml"].map((name) => join(root, name)).find((each) => existsSync(each));

const isToml = (path: string) => path.endsWith(".toml");

/** Says how to set the variable MODEL in a configuration file, in the file's own syntax. */
export const modelSetting = (path: string, model: string): string =>
  isToml(path)
    ? `MODEL = "${model}" under [vars] in ${basename(path)}`
    : `"MODEL": "${model}" under "vars" in ${basename(path)}`;

/** Says how to bind a bucket in a configuration file, in the file's own syntax. */
export const bucketSetting = (path: string, bucket: string): string =>
  isToml(path)
    ? `an [[r2_buckets]] section with binding = "MODELS" and bucket_name = "${bucket}" to ${basename(path)}`
    : `{ "binding": "MODELS", "bucket_name": "${bucket}" } to the list "r2_buckets" in ${basename(path)}`;

/**
 * Reads the project's configuration of wrangler.
 *
 * @param root the project's folder
 * @throws BertEdgeError `project_invalid`, `package_missing`
 */
export function readWranglerConfig(root: string): WranglerConfig {
  const path = findWranglerConfig(root);
  if (!path) {
    throw new BertEdgeError("project_invalid", `${root} has no wrangler.toml or wrangler.jsonc.`, {
      hint: "Run this command in the folder of your project. `npx create-bert-edge` makes a new project.",
    });
  }
  const { unstable_readConfig } = requireWrangler(root);
  try {
    const { main, vars, r2_buckets, name, account_id, limits, assets } = unstable_readConfig(
      { config: path },
      { hideWarnings: true },
    );
    const bindings = r2_buckets as R2Binding[];
    const deployed = bindings.map(({ binding, bucket_name = "" }) => [binding, bucket_name] as const);
    const buckets = bindings.map(
      ({ binding, bucket_name = "", preview_bucket_name = bucket_name }) => [binding, preview_bucket_name] as const,
    );
    const model = typeof vars["MODEL"] === "string" ? (vars["MODEL"] as string) : "";
    return {
      path,
      main,
      models: model.split(",").flatMap((name) => name.trim() || []),
      buckets: new Map(buckets),
      deployedBuckets: new Map(deployed),
      name,
      account: account_id,
      cpuMs: limits?.cpu_ms,
      assets: assets?.directory,
    };
  } catch (cause) {
    throw new BertEdgeError("project_invalid", `wrangler cannot read ${path}.`, {
      hint: "Correct the file as the cause says.",
      cause,
    });
  }
}
