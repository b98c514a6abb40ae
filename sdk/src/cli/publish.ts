import { Command } from "commander";
import { pointerKey } from "../artifact/keys.ts";
import type { Manifest } from "../artifact/manifest.ts";
import type { WritableStore } from "../storage/store.ts";
import { type PublishPlace, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";

interface Options {
  to: PublishPlace;
  endpoint?: string;
  region?: string;
  json?: true;
}

export const publishCommand = new Command("publish")
  .description("copy an artifact to object storage and make it the current version")
  .argument("<artifact>", "artifact folder")
  .requiredOption("--to <place>", "s3://bucket, s3://bucket/prefix, or assets:folder for static assets", publishPlace)
  .option("--endpoint <url>", "S3 endpoint, e.g. of R2 (default: $AWS_ENDPOINT_URL_S3, or AWS)")
  .option("--region <region>", "AWS region (default: $AWS_REGION, or the AWS profile's)")
  .option("--json", "print the result as JSON")
  .addHelpText("after", "\nThe AWS SDK finds the credentials: environment, profile or instance role.")
  .action(async (folder: string, { json, ...place }: Options) => {
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const { publish } = await import("../storage/publish.ts");
    const { assertLoadable } = await import("../runtime/assert-loadable.ts");
    const artifact = await openFolder(folder);
    const { store, address } = await openPlace(place, artifact.manifest);
    await assertLoadable(artifact);
    const result = await publish(artifact, store, (key, state) => printNote(`${state} ${key}`));
    if (json) printJson(result);
    else
      printResult(
        `${result.name}@${result.version} is current at ${address} (${result.uploaded} objects, ${(result.bytes / 1e6).toFixed(1)} MB sent).`,
      );
  });

/** Opens the store, and checks that a model can be written to it. */
async function openPlace(
  { to, endpoint, region }: Options,
  manifest: Manifest,
): Promise<{ store: WritableStore; address: string }> {
  if ("folder" in to) {
    const { assertWritableFolder } = await import("../compile/files/writable-folder.ts");
    const { assertAssetSizes, assetsFolder } = await import("../storage/assets-folder.ts");
    assertAssetSizes(manifest);
    await assertWritableFolder(to.folder);
    return { store: assetsFolder(to.folder), address: to.folder };
  }
  const { readObject } = await import("../storage/read-object.ts");
  const { s3Publisher } = await import("../storage/s3-publisher.ts");
  const store = s3Publisher({ ...to, ...(endpoint && { endpoint }), ...(region && { region }) });
  // A request for content shows whether credentials and bucket are right. Services answer other requests with less detail.
  await readObject(store, pointerKey(manifest.name));
  return { store, address: `s3://${to.bucket}/${to.prefix}` };
}
