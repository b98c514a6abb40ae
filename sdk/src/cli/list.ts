import { Command } from "commander";
import { endpointOption, openPlace, type PlaceOptions, places, regionOption } from "./open-place.ts";
import { type PublishPlace, publishPlace } from "./options.ts";
import { printJson, printResult, table } from "./output.ts";

export const listCommand = new Command("list")
  .description("list the published versions of models, the newest first")
  .argument("[name]", "name of a model (default: all)")
  .requiredOption("--store <place>", places, publishPlace)
  .option(...endpointOption)
  .option(...regionOption)
  .option("--json", "print the versions as JSON")
  .action(
    async (
      name: string | undefined,
      { store: place, json, ...options }: PlaceOptions & { store: PublishPlace; json?: true },
    ) => {
      const { publishedVersions } = await import("../storage/versions.ts");
      await using opened = await openPlace(place, options);
      const versions = await publishedVersions(opened.store, name);
      if (json) return printJson(versions);
      const rows = versions.map(({ name, version, published, isCurrent, signed }) => [
        name,
        version,
        published.toISOString(),
        [isCurrent ? "current" : "", signed ? `signed as ${signed.sequence} until ${signed.expires}` : ""]
          .join(" ")
          .trim(),
      ]);
      printResult(table(["model", "version", "published", ""], rows));
    },
  );
