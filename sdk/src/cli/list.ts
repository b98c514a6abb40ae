import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import type { PublishedVersion } from "../storage/versions.ts";
import { endpointOption, openPlace, type PlaceOptions, places, regionOption } from "./open-place.ts";
import { type PublishPlace, parseModelName, publishPlace } from "./options.ts";
import { printJson, printNote, printResult, table } from "./output.ts";
import { signingOf } from "./signing.ts";

interface Options extends PlaceOptions {
  store: PublishPlace;
  json?: true;
}

export const listCommand = new Command("list")
  .description("list the published versions of models, the newest first")
  .argument("[name]", "name of a model (default: all)", parseModelName)
  .requiredOption("--store <place>", places, publishPlace)
  .option(...endpointOption)
  .option(...regionOption)
  .option("--json", "print the versions as JSON")
  .addHelpText("after", "\nVerifies signatures if $MODEL_SIGNERS or $BERT_EDGE_SIGNING_KEY is set.")
  .action(async (name: string | undefined, { store: place, json, ...options }: Options) => {
    const { listVersions } = await import("../storage/versions.ts");
    await using opened = await openPlace(place, "read", options);
    const { store } = await signingOf(opened.store);
    const versions = await listVersions(store, name);
    if (name !== undefined && versions.length === 0) {
      throw new BertEdgeError("model_not_published", `${store.name} has no model named ${name}.`, {
        hint: "Correct the name. Without a name, `bert-edge list` shows all models.",
      });
    }
    if (json) return printJson(versions.map(forJson));
    const rows = versions.map((each) => [each.name, each.version, each.published.toISOString(), stateOf(each)]);
    printResult(table(["model", "version", "published", ""], rows));
    for (const message of new Set(versions.map(({ unreadable }) => unreadable?.message))) {
      if (message !== undefined) printNote(`! ${message}`);
    }
  });

const forJson = ({ unreadable, ...version }: PublishedVersion) => ({
  ...version,
  ...(unreadable && { unreadable: { code: unreadable.code, message: unreadable.message } }),
});

function stateOf({ isCurrent, signed, unreadable }: PublishedVersion): string {
  if (unreadable) return `INVALID: ${unreadable.code}`;
  if (!signed) return isCurrent ? "current" : "";
  const { sequence, expires, verified } = signed;
  const isExpired = expires !== undefined && Date.parse(expires) <= Date.now();
  const until = expires === undefined ? "without an end" : `${isExpired ? "EXPIRED at" : "until"} ${expires}`;
  return `current, signed as ${sequence} ${until}${verified ? "" : ", not verified"}`;
}
