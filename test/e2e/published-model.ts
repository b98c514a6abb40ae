import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbedManifest, sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { type ObjectStorage, startObjectStorage } from "#sdk/cli/dev/object-storage.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";

/** Its vectors are normalized and sent as float32 values, each rounded to 2^-24 (6e-8) of itself. */
export const UNIT_TOLERANCE = 1e-6;

export interface PublishedModel {
  manifest: EmbedManifest;
  access: ObjectStorage["access"];
  stop(): Promise<void>;
}

/** The default model, prepared for the region's CPU and published to a server that speaks the S3 protocol. */
export async function publishedModel(): Promise<PublishedModel> {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-published-"));
  let storage: ObjectStorage | undefined;
  const stop = async () => {
    await storage?.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const artifact = join(folder, "artifact");
    const { manifest } = await prepare({
      folder: "models/default",
      out: artifact,
      name: "bert-edge-mini",
      targets: ["regional-cpu"],
    });
    storage = await startObjectStorage(process.cwd());
    await publish(await openFolder(artifact), s3Publisher(storage.access));
    return { manifest: sentenceEncoder(manifest), access: storage.access, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
