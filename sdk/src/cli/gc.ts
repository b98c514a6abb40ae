import { Command } from "commander";
import { endpointOption, openPlace, type PlaceOptions, places, regionOption } from "./open-place.ts";
import { type PublishPlace, positiveInteger, publishPlace } from "./options.ts";
import { printJson, printNote, printResult } from "./output.ts";

const DAY_MS = 86_400_000;

interface Options extends PlaceOptions {
  store: PublishPlace;
  olderThan: number;
  dryRun?: boolean;
  json?: true;
}

export const gcCommand = new Command("gc")
  .description("remove old versions that are not current, and objects that no version needs")
  .requiredOption("--store <place>", places, publishPlace)
  .option("--older-than <days>", "age from which on something is removed", positiveInteger, 30)
  .option(...endpointOption)
  .option(...regionOption)
  .option("--dry-run", "remove nothing, only print what would be removed")
  .option("--json", "print the result as JSON")
  .addHelpText(
    "after",
    "\nKeeps the current version of every model, whatever its age, and the version to which `rollback` returns, if the current one " +
      "became current less than --older-than days ago. The objects of a version that it removes stay for an hour: run it again " +
      "to remove them.",
  )
  .action(async ({ store: place, olderThan, dryRun = false, json, ...options }: Options) => {
    const { collectGarbage } = await import("../storage/collect-garbage.ts");
    await using opened = await openPlace(place, dryRun ? "read" : "write", options);
    const collected = await collectGarbage(opened.store, {
      olderThanMs: olderThan * DAY_MS,
      dryRun,
      onObject: ({ key }) => printNote(`${dryRun ? "would remove" : "removed"} ${key}`),
    });
    if (json) return printJson({ dryRun, ...collected });
    const { versions, objects, bytes, uploads } = collected;
    const unfinished = uploads > 0 ? `, ${uploads} unfinished uploads` : "";
    const what = `${versions.length} versions, ${objects} objects, ${(bytes / 1e6).toFixed(1)} MB${unfinished}`;
    const later =
      versions.length > 0 ? " Run it again in an hour: the objects of removed versions stay that long." : "";
    printResult(`${dryRun ? "Would remove" : "Removed"} ${what}.${later}`);
  });
