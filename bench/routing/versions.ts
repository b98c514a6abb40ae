import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { V4ModuleDefinition } from "miniflare";
import { workerModules } from "#test/fixtures/worker-modules.ts";
import type { Context } from "./context.ts";

/** Name under which an older version publishes the model. */
const OLDER_NAME = "older";

/** The Worker and the region of a version, with the model that this version prepared. */
export interface Version {
  readonly modules: V4ModuleDefinition[];
  /** Variables of both tiers. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder of the checkout. Undefined for this one. */
  readonly root?: string;
}

/** Returns this version and, with `against`, the one in an older checkout, which has to be installed and built. */
export async function versionsOf(context: Context): Promise<{ now: Version; before?: Version }> {
  const { against } = context.options;
  if (!against) return { now: context };
  const root = resolve(against);
  context.stage(`prepare with ${root}`);
  const [modules] = await Promise.all([
    workerModules({ entryPoints: ["functions/edge.ts"], absWorkingDir: root }),
    publishWith(root, context),
  ]);
  return { now: context, before: { modules, env: { ...context.env, MODEL: OLDER_NAME }, root } };
}

/** Prepares and publishes the model with the commands of a checkout. */
async function publishWith(root: string, { options, storage }: Context): Promise<void> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = storage;
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [join(root, "sdk/bin/bert-edge.js"), ...args], { env });
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-older-"));
  try {
    const out = join(folder, OLDER_NAME);
    const targets = ["--targets", "edge,regional-cpu"];
    await run("prepare", resolve(options.model), "--name", OLDER_NAME, "--out", out, ...targets);
    await run("publish", out, "--to", `s3://${bucket}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}
