import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { V4ModuleDefinition } from "miniflare";
import type { ObjectStorage } from "#test/fixtures/object-storage.ts";
import { workerModules } from "#test/fixtures/worker-modules.ts";
import { bertEdge } from "../run-tool.ts";

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

/** This version, and an older one with which it is compared. */
export interface Versions {
  readonly now: Version;
  readonly before?: Version;
}

/** Opens the version in an older checkout, which has to be installed and built. It prepares and publishes the model itself. */
export async function olderVersion(
  root: string,
  { model, storage, env }: { model: string; storage: ObjectStorage["access"]; env: Version["env"] },
): Promise<Version> {
  const [modules] = await Promise.all([
    workerModules({ entryPoints: ["functions/edge.ts"], absWorkingDir: root }),
    publishWith(root, model, storage),
  ]);
  return { modules, env: { ...env, MODEL: OLDER_NAME }, root };
}

/** Prepares and publishes a model with the commands of a checkout. */
async function publishWith(root: string, model: string, storage: ObjectStorage["access"]): Promise<void> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey } = storage;
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const run = (name: string, ...args: string[]) => {
    const [program = "", ...first] = bertEdge(name, root);
    return promisify(execFile)(program, [...first, ...args], { env });
  };
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-older-"));
  try {
    const out = join(folder, OLDER_NAME);
    const targets = ["--targets", "edge,regional-cpu"];
    await run("prepare", resolve(model), "--name", OLDER_NAME, "--out", out, ...targets);
    await run("publish", out, "--to", `s3://${bucket}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}
