import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { JURISDICTIONS, type Jurisdiction } from "./cloudflare.ts";
import { chooseEnvironment, type Environment } from "./environment.ts";
import { requireWrangler } from "./installed.ts";
import { type Variables, wranglerVariables } from "./variables.ts";

/** An R2 binding in the configuration. Locally, wrangler prefers `preview_bucket_name`. */
interface R2Binding {
  binding: string;
  bucket_name?: string;
  preview_bucket_name?: string;
  jurisdiction?: string;
}

/** A bucket of R2. Each jurisdiction has its own buckets: the same name in another jurisdiction is another bucket. */
export interface DeployedBucket {
  readonly name: string;
  /** Undefined for buckets outside of jurisdictions. */
  readonly jurisdiction: Jurisdiction | undefined;
}

/** The part of wrangler's configuration that bert-edge reads, in the chosen environment. */
export interface WranglerConfig {
  /** The configuration file. */
  readonly path: string;
  readonly environment: Environment;
  /** Reads variables as wrangler does. */
  readonly variable: Variables;
  /** The Worker's entry file. */
  readonly main: string | undefined;
  /** Names of the models in the variable MODEL of `[vars]`; empty without it. The first is the default. */
  readonly models: readonly string[];
  /** Name of the local bucket of each R2 binding. */
  readonly buckets: ReadonlyMap<string, string>;
  /** The deployed bucket of the R2 binding MODELS; undefined if the binding is missing or names no bucket. */
  readonly deployedBucket: DeployedBucket | undefined;
  /** Name of the Worker. */
  readonly name: string | undefined;
  /** Cloudflare's account ID. */
  readonly account: string | undefined;
  /** CPU time per request in `[limits]`, in ms. The free plan takes no such setting. */
  readonly cpuMs: number | undefined;
  /** Folder of static assets. */
  readonly assets: string | undefined;
}

/** Returns the path of the project's wrangler configuration; undefined without one. Tries the file names in wrangler's order. */
export const findWranglerConfig = (root: string): string | undefined =>
  ["wrangler.json", "wrangler.jsonc", "wrangler.toml"].map((name) => join(root, name)).find((each) => existsSync(each));

type Place = Pick<WranglerConfig, "path" | "environment">;

const isToml = (path: string) => path.endsWith(".toml");

/** Returns the name of a section that no environment inherits: `vars` at the top level, `env.staging.vars` in an environment. */
const section = ({ path, environment: { name } }: Place, part: string): string => {
  if (name === undefined) return isToml(path) ? part : `"${part}"`;
  return isToml(path) ? `env.${name}.${part}` : `"${part}" of "${name}" in "env"`;
};

/** Says how to set the variable MODEL in a configuration file, in the file's own syntax. */
export const modelSetting = (config: Place, model: string): string =>
  isToml(config.path)
    ? `MODEL = "${model}" under [${section(config, "vars")}] in ${basename(config.path)}`
    : `"MODEL": "${model}" under ${section(config, "vars")} in ${basename(config.path)}`;

/** Says how to bind a bucket in a configuration file, in the file's own syntax. */
export const bucketSetting = (config: Place, bucket: string): string =>
  isToml(config.path)
    ? `an [[${section(config, "r2_buckets")}]] section with binding = "MODELS" and bucket_name = "${bucket}" to ${basename(config.path)}`
    : `{ "binding": "MODELS", "bucket_name": "${bucket}" } to the list ${section(config, "r2_buckets")} in ${basename(config.path)}`;

/**
 * Reads the project's configuration of wrangler, in the environment that wrangler would choose.
 *
 * @param root the project's folder
 * @param option the option `--env`; the empty text is the top level
 * @throws BertEdgeError `project_invalid`, `package_missing`, and `setting_invalid` if there is no such environment
 */
export function readWranglerConfig(root: string, option?: string): WranglerConfig {
  const path = findWranglerConfig(root);
  if (!path) {
    throw new BertEdgeError("project_invalid", `${root} has no wrangler.toml or wrangler.jsonc.`, {
      hint: "Run this command in the folder of your project. `npx create-bert-edge` makes a new project.",
    });
  }
  const { unstable_readConfig, experimental_readRawConfig } = requireWrangler(root);
  /** @param env the empty text is the top level, also if CLOUDFLARE_ENV is set */
  const read = (env: string) => {
    try {
      const { rawConfig, configPath } = experimental_readRawConfig({ script: join(root, "index.js") });
      const all = Object.keys(rawConfig.env ?? {});
      return { ...unstable_readConfig({ config: path, env }, { hideWarnings: true }), all, found: configPath };
    } catch (cause) {
      throw new BertEdgeError("project_invalid", `wrangler cannot read ${path}.`, {
        hint: "Correct the file as the cause says.",
        cause,
      });
    }
  };
  const variable = wranglerVariables(root, option);
  const top = read("");
  if (top.found !== path) {
    throw new BertEdgeError("project_invalid", `wrangler would read ${top.found}, not ${path}.`, {
      hint: `wrangler looks for ${basename(top.found ?? "")} first, also in the folders above. Delete that file, or write the settings of ${basename(path)} into a ${basename(top.found ?? "")} beside it.`,
    });
  }
  const environment = chooseEnvironment(path, { option, variable, all: top.all });
  const { main, vars, r2_buckets, name, account_id, limits, assets } =
    environment.name === undefined ? top : read(environment.name);
  const bindings = r2_buckets as R2Binding[];
  const buckets = bindings.map(
    ({ binding, bucket_name = "", preview_bucket_name = bucket_name }) => [binding, preview_bucket_name] as const,
  );
  return {
    path,
    environment,
    variable,
    main,
    models: modelNames(vars),
    buckets: new Map(buckets),
    deployedBucket: deployedBucket(bindings, path),
    name,
    account: account_id,
    cpuMs: limits?.cpu_ms,
    assets: assets?.directory,
  };
}

/** Reads the names of the models in the variable MODEL; empty without it. */
export const modelNames = ({ MODEL }: Readonly<Record<string, unknown>>): string[] =>
  typeof MODEL === "string" ? MODEL.split(",").flatMap((name) => name.trim() || []) : [];

/** @throws BertEdgeError `project_invalid` if the jurisdiction is not one of R2's */
export function deployedBucket(bindings: readonly R2Binding[], path: string): DeployedBucket | undefined {
  const { bucket_name: name, jurisdiction: given } = bindings.find(({ binding }) => binding === "MODELS") ?? {};
  if (!name) return undefined;
  const jurisdiction = JURISDICTIONS.find((each) => each === given);
  if (jurisdiction || !given) return { name, jurisdiction };
  throw new BertEdgeError("project_invalid", `${path} has the jurisdiction ${JSON.stringify(given)} for MODELS.`, {
    hint: `Set jurisdiction to ${JURISDICTIONS.join(", ")}, or leave it out for a bucket outside of jurisdictions.`,
  });
}
