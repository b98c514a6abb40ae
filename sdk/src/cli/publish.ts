import { Command } from "commander";
import { DRAFT } from "../artifact/draft.ts";
import { pointerKey } from "../artifact/keys.ts";
import { openPlace, type PlaceOptions, places, withPublisherOptions } from "./open-place.ts";
import { type PublishPlace, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";
import { type SigningOptions, signingOf } from "./signing.ts";

interface Options extends PlaceOptions, SigningOptions {
  to: PublishPlace;
  verify?: boolean;
  json?: true;
}

export const publishCommand = withPublisherOptions(
  new Command("publish")
    .description("copy an artifact to object storage and make it the current version")
    .argument("<artifact>", "artifact folder")
    .requiredOption("--to <place>", places, publishPlace),
)
  .option("--verify", "read everything back before the version becomes current, and write damaged objects again")
  .option("--json", "print the result as JSON")
  .addHelpText("after", "\nThe AWS SDK finds the credentials: environment, profile or instance role.")
  .action(async (folder: string, { to, json, verify = false, ...options }: Options) => {
    const { openFolder } = await import("../storage/folder-artifact.ts");
    const { publish } = await import("../storage/publish.ts");
    const { MAX_POINTER_BYTES } = await import("../artifact/pointer.ts");
    const { readObject } = await import("../storage/read-object.ts");
    const { assertLoadable } = await import("../runtime/assert-loadable.ts");
    const artifact = await openFolder(folder);
    const { manifest } = artifact;
    if (manifest.draft) printNote(`! ${DRAFT}`);
    if (to.kind === "assets") (await import("../storage/assets-publisher.ts")).assertAssetSizes(manifest);
    await using opened = await openPlace(to, "publish", options);
    const { address } = opened;
    const { store, signing } = await signingOf(opened.store, options);
    // Reads an object first, because the error of a read tells wrong credentials from a wrong bucket. Other requests give less detail.
    await readObject(store, pointerKey(manifest.name), MAX_POINTER_BYTES);
    await assertLoadable(artifact);
    const result = await publish(artifact, store, {
      onObject: (key, state) => printNote(`${state} ${key}`),
      signing,
      verify,
    });
    if (json) return printJson(result);
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const sent = `${result.uploaded} objects, ${megabytes(result.bytes)} sent`;
    const read = result.verifiedBytes === undefined ? "" : `, ${megabytes(result.verifiedBytes)} read back`;
    printResult(`${result.name}@${result.version} is current at ${address} (${sent}${read}).`);
  });
