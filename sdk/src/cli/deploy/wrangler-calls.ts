import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import * as v from "valibot";
import type { BertEdgeError } from "../../artifact/error.ts";
import { MAX_DATA_BYTES, MAX_SETTINGS_BYTES, wholeFile, wholeText } from "../../compile/files/whole-file.ts";
import { disposableFolder } from "../disposable-folder.ts";
import { jurisdictionArgs } from "../wrangler/cloudflare.ts";
import type { DeployedBucket } from "../wrangler/config.ts";
import { type Environment, wranglerSelection } from "../wrangler/environment.ts";
import { packageFile } from "../wrangler/installed.ts";
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
const Deployed = v.object({
  type: v.literal("deploy"),
  /** Absent in a dry run. */
  targets: v.optional(v.array(v.string()), []),
  worker_name: v.nullable(v.string()),
});

export interface WranglerOptions {
  /** The project's folder. */
  readonly root: string;
  /** Entry file of the Worker, relative to `root`. */
  readonly script: string;
  /** wrangler's configuration file, relative to `root`. */
  readonly config: string;
  /** Configuration that a build wrote, relative to `root`. wrangler finds it by itself, and deploys it instead of `script`. */
  readonly built?: string | undefined;
  readonly environment: Environment;
  /** Values that no message may contain. */
  readonly secrets: readonly string[];
  /** Default: starts a process. */
  readonly runTool?: typeof runTool;
}

/** A dry run of `wrangler deploy`. */
export interface DryRun {
  /** Tag of the bundled Worker and its configuration: the same content has the same tag. */
  readonly tag: string;
  /** Name of the Worker. */
  readonly worker: string | undefined;
  /** The bucket that is bound to MODELS. */
  readonly bucket: { readonly name: string; readonly jurisdiction: string | undefined } | undefined;
  /** The variable MODEL. wrangler cuts a longer value after 37 characters and appends `...`. */
  readonly model: string | undefined;
}

/** Calls of the project's own wrangler. */
export interface WranglerCalls {
  /** Uses an account in all later calls. */
  useAccount(id: string): void;
  /** Returns the accounts of the login; undefined without a login. */
  accounts(): Promise<Account[] | undefined>;
  hasBucket(bucket: DeployedBucket): Promise<boolean>;
  createBucket(bucket: DeployedBucket): Promise<void>;
  /** Returns the names of the Worker's secrets; none before the first deployment. */
  secretNames(): Promise<string[]>;
  putSecrets(secrets: Readonly<Record<string, string>>): Promise<void>;
  /** Bundles the Worker. Needs no login. */
  dryRun(): Promise<DryRun>;
  /** Returns the tag of the deployed version; undefined without one. */
  deployedTag(): Promise<string | undefined>;
  /** Deploys the Worker. Returns its URL; undefined if it has none. */
  deploy(tag: string): Promise<string | undefined>;
}

/** Replaces the calls that read the account by calls that throw `missing`. `dryRun` still bundles the Worker. */
export function withoutLogin(calls: WranglerCalls, missing: BertEdgeError): WranglerCalls {
  const refuse = async () => {
    throw missing;
  };
  return { ...calls, hasBucket: refuse, secretNames: refuse, deployedTag: refuse };
}

/** @throws BertEdgeError `package_missing` */
export function wranglerCalls(options: WranglerOptions): WranglerCalls {
  const { root, script, config, built, environment, secrets, runTool } = options;
  let account: Record<string, string> = {};
  const selection = wranglerSelection(config, environment);
  const tool = projectTool({
    name: "wrangler",
    script: packageFile(root, "wrangler", "bin/wrangler.js"),
    root,
    secrets,
    // Without a terminal, wrangler asks nothing. CI keeps it from trying to log in.
    env: () => ({ WRANGLER_SEND_METRICS: "false", CI: "true", ...selection.env, ...account }),
    runTool,
  });
  const { failure } = tool;
  const run = (args: readonly string[]) => tool.run([...args, ...selection.args]);
  const done = (args: readonly string[], call?: Parameters<typeof tool.done>[1]) =>
    tool.done([...args, ...selection.args], call);

  /** Runs a call that reads something. Returns undefined if wrangler fails and its output matches `absent`. */
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

  /** Runs `wrangler deploy`, and reads its report. */
  async function deployWith(args: readonly string[]) {
    using folder = disposableFolder("deploy");
    const report = join(folder.path, "report.ndjson");
    const env = { WRANGLER_OUTPUT_FILE_PATH: report };
    const call = { timeoutMs: DEPLOY_MS, env };
    const { stdout } =
      built === undefined
        ? await done(["deploy", script, ...args], call)
        : await tool.done(["deploy", ...args, ...selection.environment], call);
    const lines = (await wholeText(report, MAX_SETTINGS_BYTES)).split("\n").filter((line) => line !== "");
    const entries = lines.map((line) => v.safeParse(Deployed, JSON.parse(line)));
    return {
      stdout,
      deployed: entries.find(({ success }) => success)?.output as v.InferOutput<typeof Deployed> | undefined,
    };
  }

  // Cloudflare's error codes for a Worker and for a bucket that do not exist, and wrangler's own messages for a missing Worker.
  const noWorker = /code: (10007|10090)\b|Worker .* not found|has no deployments/;
  const noBucket = /code: 10006\b/;

  return {
    useAccount(id) {
      account = { CLOUDFLARE_ACCOUNT_ID: id };
    },
    accounts: async () =>
      (await found(WhoAmI, ["whoami", "--json"], /"loggedIn":\s*false|not authenticated/))?.accounts,
    async hasBucket({ name, jurisdiction }) {
      const args = ["r2", "bucket", "info", name, "--json", ...jurisdictionArgs(jurisdiction)];
      return (await found(v.unknown(), args, noBucket)) !== undefined;
    },
    async createBucket({ name, jurisdiction }) {
      await done(["r2", "bucket", "create", name, ...jurisdictionArgs(jurisdiction)]);
    },
    secretNames: async () =>
      ((await found(Secrets, ["secret", "list", "--format", "json"], noWorker)) ?? []).map(({ name }) => name),
    async putSecrets(values) {
      await done(["secret", "bulk"], { stdin: JSON.stringify(values) });
    },
    async dryRun() {
      using folder = disposableFolder("bundle");
      const { stdout, deployed } = await deployWith(["--dry-run", "--outdir", folder.path]);
      const hash = createHash("sha256").update(await wholeFile(join(root, built ?? config), MAX_SETTINGS_BYTES));
      // Leaves out README.md, which contains the time of the build, and source maps, which contain paths of this machine.
      const files = (await readdir(folder.path, { recursive: true })).filter((path) =>
        /\.(m?js|wasm|bin|txt)$/.test(path),
      );
      for (const path of files.sort())
        hash.update(path).update(await wholeFile(join(folder.path, path), MAX_DATA_BYTES));
      return {
        tag: `bert-edge-${hash.digest("hex").slice(0, 12)}`,
        worker: deployed?.worker_name ?? undefined,
        bucket: boundBucket(stdout),
        model: /^\s*env\.MODEL \("(.*)"\)\s+Environment Variable/m.exec(stripVTControlCharacters(stdout))?.[1],
      };
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
      const { targets = [] } = (await deployWith(["--tag", tag])).deployed ?? {};
      return targets.map((target) => /^https?:\/\/[^\s*]+/.exec(target)?.[0]).find((url) => url !== undefined);
    },
  };
}

/** Reads the bucket of MODELS from the table of bindings that wrangler prints: `env.MODELS (my-models (eu))  R2 Bucket`. */
function boundBucket(stdout: string): DryRun["bucket"] {
  const row = /^\s*env\.MODELS \((\S+?)(?: \((\w+)\))?\)\s+R2 Bucket/m;
  const [, name, jurisdiction] = row.exec(stripVTControlCharacters(stdout)) ?? [];
  return name === undefined ? undefined : { name, jurisdiction };
}
