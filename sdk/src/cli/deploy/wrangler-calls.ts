import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import type { BertEdgeError } from "../../artifact/error.ts";
import { MAX_DATA_BYTES, MAX_SETTINGS_BYTES, wholeFile, wholeText } from "../../compile/files/whole-file.ts";
import { disposableFolder } from "../disposable-folder.ts";
import { packageFile } from "../package-file.ts";
import { projectTool } from "./project-tool.ts";
import type { runTool } from "./run-tool.ts";

/** Timeout in ms of building and uploading a Worker. */
const DEPLOY_MS = 300_000;

const Account = v.object({ id: v.string(), name: v.string() });
export type Account = v.InferOutput<typeof Account>;
const WhoAmI = v.object({ accounts: v.array(Account) });
const Secrets = v.array(v.object({ name: v.string() }));
const Status = v.object({ versions: v.array(v.object({ version_id: v.string() })) });
const Version = v.object({ annotations: v.optional(v.record(v.string(), v.unknown())) });
const Deployed = v.object({ type: v.literal("deploy"), targets: v.array(v.string()) });

export interface WranglerOptions {
  /** The project's folder. */
  readonly root: string;
  /** Entry file of the Worker, relative to `root`. */
  readonly script: string;
  /** Values that no message may contain. */
  readonly secrets: readonly string[];
  /** Default: starts a process. */
  readonly runTool?: typeof runTool;
}

/** Questions and commands for the project's own wrangler. */
export interface WranglerCalls {
  /** Uses an account in all later calls. */
  useAccount(id: string): void;
  /** Returns the accounts of who is logged in; undefined if nobody is. */
  accounts(): Promise<Account[] | undefined>;
  hasBucket(name: string): Promise<boolean>;
  createBucket(name: string): Promise<void>;
  /** Names of the Worker's secrets. There are none before the first deployment. */
  secretNames(): Promise<string[]>;
  putSecrets(secrets: Readonly<Record<string, string>>): Promise<void>;
  /** Returns a name for the bundled Worker and its configuration: the same content has the same name. */
  bundleTag(config: string): Promise<string>;
  /** Returns the tag of the deployed version; undefined without one. */
  deployedTag(): Promise<string | undefined>;
  /** Deploys the Worker. Returns its URL; undefined if it has none. */
  deploy(tag: string): Promise<string | undefined>;
}

/** Makes what asks the account throw `missing`. The Worker is still bundled. */
export function withoutLogin(calls: WranglerCalls, missing: BertEdgeError): WranglerCalls {
  const refuse = async () => {
    throw missing;
  };
  return { ...calls, hasBucket: refuse, secretNames: refuse, deployedTag: refuse };
}

/** @throws BertEdgeError `package_missing` */
export function wranglerCalls({ root, script, secrets, runTool }: WranglerOptions): WranglerCalls {
  let account: Record<string, string> = {};
  const { run, done, failure } = projectTool({
    name: "wrangler",
    script: packageFile(root, "wrangler", "bin/wrangler.js"),
    root,
    secrets,
    // Without a terminal, wrangler asks nothing. CI keeps it from trying to log in.
    env: () => ({ WRANGLER_SEND_METRICS: "false", CI: "true", ...account }),
    runTool,
  });

  /** Runs a question. Returns undefined if wrangler fails because what it asks for does not exist. */
  async function found<Schema extends v.GenericSchema>(
    schema: Schema,
    args: readonly string[],
    absent: RegExp,
  ): Promise<v.InferOutput<Schema> | undefined> {
    const output = await run(args);
    if (output.code !== 0) {
      if (absent.test(output.stdout + output.stderr)) return undefined;
      throw failure(args, output);
    }
    try {
      return v.parse(schema, JSON.parse(output.stdout));
    } catch (cause) {
      throw failure(args, output, cause);
    }
  }

  // Cloudflare's codes for a Worker and for a bucket that do not exist, and wrangler's own words for the same.
  const noWorker = /code: (10007|10090)\b|Worker .* not found|has no deployments/;
  const noBucket = /code: 10006\b/;

  return {
    useAccount(id) {
      account = { CLOUDFLARE_ACCOUNT_ID: id };
    },
    accounts: async () =>
      (await found(WhoAmI, ["whoami", "--json"], /"loggedIn":\s*false|not authenticated/))?.accounts,
    hasBucket: async (name) =>
      (await found(v.unknown(), ["r2", "bucket", "info", name, "--json"], noBucket)) !== undefined,
    async createBucket(name) {
      await done(["r2", "bucket", "create", name]);
    },
    secretNames: async () =>
      ((await found(Secrets, ["secret", "list", "--format", "json"], noWorker)) ?? []).map(({ name }) => name),
    async putSecrets(values) {
      await done(["secret", "bulk"], { stdin: JSON.stringify(values) });
    },
    async bundleTag(config) {
      using folder = disposableFolder("bundle");
      await done(["deploy", script, "--dry-run", "--outdir", folder.path], { timeoutMs: DEPLOY_MS });
      const hash = createHash("sha256").update(await wholeFile(join(root, config), MAX_SETTINGS_BYTES));
      // README.md names the time of the build, and source maps name paths of this machine.
      const files = (await readdir(folder.path, { recursive: true })).filter((path) =>
        /\.(m?js|wasm|bin|txt)$/.test(path),
      );
      for (const path of files.sort())
        hash.update(path).update(await wholeFile(join(folder.path, path), MAX_DATA_BYTES));
      return `bert-edge-${hash.digest("hex").slice(0, 12)}`;
    },
    async deployedTag() {
      const status = await found(Status, ["deployments", "status", "--json"], noWorker);
      const [only, ...others] = status?.versions ?? [];
      if (!only || others.length > 0) return undefined;
      const version = await found(Version, ["versions", "view", only.version_id, "--json"], noWorker);
      const tag = version?.annotations?.["workers/tag"];
      return typeof tag === "string" ? tag : undefined;
    },
    async deploy(tag) {
      using folder = disposableFolder("deploy");
      const report = join(folder.path, "report.ndjson");
      const env = { WRANGLER_OUTPUT_FILE_PATH: report };
      await done(["deploy", script, "--tag", tag], { timeoutMs: DEPLOY_MS, env });
      const lines = (await wholeText(report, MAX_SETTINGS_BYTES)).split("\n").filter((line) => line !== "");
      const targets = lines.flatMap((line) => {
        const entry = v.safeParse(Deployed, JSON.parse(line));
        return entry.success ? entry.output.targets : [];
      });
      return targets.map((target) => /^https?:\/\/[^\s*]+/.exec(target)?.[0]).find((url) => url !== undefined);
    },
  };
}
