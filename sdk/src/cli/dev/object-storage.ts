import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { S3Options } from "../../storage/s3.ts";
import { freePort, packageFile, type Service, startService } from "./process.ts";

/** Access key and secret of s3rver's only account. */
const S3RVER_KEY = "S3RVER";
const START_MS = 60_000;

export interface ObjectStorage extends Service {
  /** Address, bucket and keys of the storage. The bucket is empty at the start. */
  readonly access: Required<Pick<S3Options, "endpoint" | "bucket" | "region" | "accessKeyId" | "secretAccessKey">>;
}

/**
 * Starts an S3 server in another process. Stopping the server deletes the stored objects.
 *
 * @param root folder with node_modules/s3rver
 * @throws BertEdgeError `service_failed`, `package_missing`
 */
export async function startObjectStorage(root: string): Promise<ObjectStorage> {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-objects-"));
  const removeNow = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", removeNow);
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    process.off("exit", removeNow);
  };
  const port = `${await freePort()}`;
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = "bert-edge-models";
  const service = await startService({
    name: "object storage",
    script: packageFile(root, "s3rver/bin/s3rver.js"),
    args: ["--directory", folder, "--address", "127.0.0.1", "--port", port, "--configure-bucket", bucket, "--silent"],
    cwd: folder,
    ready: { url: endpoint, withinMs: START_MS },
  }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const stop = async () => {
    await service.stop();
    await remove();
  };
  const access = { endpoint, bucket, region: "us-east-1", accessKeyId: S3RVER_KEY, secretAccessKey: S3RVER_KEY };
  return { name: service.name, access, stop };
}
