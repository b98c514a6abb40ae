import { type EmbedManifest, sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import { type ObjectStorage, startObjectStorage } from "../fixtures/object-storage.ts";
import { preparedDefault } from "../fixtures/prepared.ts";

/**
 * Tolerance for the length of a normalized vector: each float32 value has a relative rounding error of 2^-24 (6e-8).
 */
export const UNIT_TOLERANCE = 1e-6;

export interface PublishedModel {
  manifest: EmbedManifest;
  access: ObjectStorage["access"];
  stop(): Promise<void>;
}

/** Publishes the default model to a server that speaks the S3 protocol. */
export async function publishedModel(): Promise<PublishedModel> {
  const artifact = await openFolder(await preparedDefault());
  const storage = await startObjectStorage();
  const stop = () => storage.stop();
  try {
    await publish(artifact, s3Publisher(storage.access));
    return { manifest: sentenceEncoder(artifact.manifest), access: storage.access, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
