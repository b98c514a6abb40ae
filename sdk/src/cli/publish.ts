import { Command } from "commander";
import { pointerKey } from "../artifact/keys.ts";
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
    const { readObject } = await import("../storage/read-object.ts");
    const { assertLoadable } = await import("../runtime/assert-loadable.ts");
    const artifact = await openFolder(folder);
    const { store, address } = await openPlace(place);
    // Finds out before any slow work whether the store can be used. Only a request for content says what is wrong.
    await readObject(store, pointerKey(artifact.manifest.name));
    await assertLoadable(artifact);
    const result = await publish(artifact, store, (key, state) => printNote(`${state} ${key}`));
    if (json) printJson(result);
    else
      printResult(
        `${result.name}@${result.version} is current at ${address} (${result.uploaded} objects, ${(result.bytes / 1e6).toFixed(1)} MB sent).`,
      );
  });

async function openPlace({ to, endpoint, region }: Options): Promise<{ store: WritableStore; address: string }> {
  if ("folder" in to) {
    const { assertWritableFolder } = await import("../compile/files/writable-folder.ts");
    const { assetsFolder } = await import("../storage/assets-folder.ts");
    await assertWritableFolder(to.folder);
    return { store: assetsFolder(to.folder), address: to.folder };
  }
  const { s3Publisher } = await import("../storage/s3-publisher.ts");
  return {
    store: s3Publisher({ ...to, ...(endpoint && { endpoint }), ...(region && { region }) }),
    address: `s3://${to.bucket}/${to.prefix}`,
  };
}
