import { resolve } from "node:path";
import { Command } from "commander";
import { DRAFT } from "../artifact/draft.ts";
import { pointerKey } from "../artifact/keys.ts";
import type { Manifest } from "../artifact/manifest.ts";
import { assertWritableFolder } from "../compile/files/writable-folder.ts";
import type { WritableStore } from "../storage/store.ts";
import { type PublishPlace, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";

interface Options {
  to: PublishPlace;
  endpoint?: string;
  region?: string;
  json?: true;
}

const places =
  "s3://bucket, s3://bucket/prefix, r2-local:bucket for `wrangler dev`, " +
  "assets:folder for static assets, or folder:folder for MODELS_FOLDER of a region";

export const publishCommand = new Command("publish")
  .description("copy an artifact to object storage and make it the current version")
  .argument("<artifact>", "artifact folder")
  .requiredOption("--to <place>", places, publishPlace)
  .option("--endpoint <url>", "S3 endpoint, e.g. of R2 (default: $AWS_ENDPOINT_URL_S3, or AWS)")
  .option("--region <region>", "AWS region (default: $AWS_REGION, or the AWS profile's)")
  .option("--json", "print the result as JSON")
  .addHelpText("after", "\nThe AWS SDK finds the credentials: environment, profile or instance role.")
  .action(async (folder: string, { json, ...place }: Options) => {
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const { publish } = await import("../storage/publish.ts");
    const { assertLoadable } = await import("../runtime/assert-loadable.ts");
    const artifact = await openFolder(folder);
    if (artifact.manifest.draft) printNote(`! ${DRAFT}`);
    await using opened = await openPlace(place, artifact.manifest);
    const { store, address } = opened;
    await assertLoadable(artifact);
    const result = await publish(artifact, store, (key, state) => printNote(`${state} ${key}`));
    if (json) printJson(result);
    else
      printResult(
        `${result.name}@${result.version} is current at ${address} (${result.uploaded} objects, ${(result.bytes / 1e6).toFixed(1)} MB sent).`,
      );
  });

interface OpenPlace extends AsyncDisposable {
  readonly store: WritableStore;
  /** The place, for messages. */
  readonly address: string;
}

/** Opens the store. Checks that a folder can be written to, that a project has the bucket, and that S3 can be read. */
async function openPlace({ to, endpoint, region }: Options, manifest: Manifest): Promise<OpenPlace> {
  const nothing = async () => {};
  switch (to.kind) {
    case "assets": {
      const { assertAssetSizes, assetsFolder } = await import("../storage/assets-folder.ts");
      assertAssetSizes(manifest);
      await assertWritableFolder(to.folder);
      return { store: assetsFolder(to.folder), address: to.folder, [Symbol.asyncDispose]: nothing };
    }
    case "folder": {
      const { fsStore } = await import("../storage/fs.ts");
      await assertWritableFolder(to.folder);
      return { store: fsStore(resolve(to.folder)), address: to.folder, [Symbol.asyncDispose]: nothing };
    }
    case "r2-local": {
      const { openProjectBucket } = await import("./local-r2.ts");
      const store = await openProjectBucket(process.cwd(), to.bucket);
      return { store, address: store.name, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    }
    case "s3": {
      const { readObject } = await import("../storage/read-object.ts");
      const { s3Publisher } = await import("../storage/s3-publisher.ts");
      const { bucket, prefix } = to;
      const store = s3Publisher({ bucket, prefix, ...(endpoint && { endpoint }), ...(region && { region }) });
      // A request for content shows whether credentials and bucket are right. Services answer other requests with less
      // detail.
      await readObject(store, pointerKey(manifest.name));
      return { store, address: `s3://${bucket}/${prefix}`, [Symbol.asyncDispose]: nothing };
    }
  }
}
