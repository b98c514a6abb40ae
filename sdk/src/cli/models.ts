import { Command } from "commander";
import type { EstimatedFit } from "../compile/latency/platforms/fit.ts";
import { printJson, printResult, table } from "./output.ts";

export const modelsCommand = new Command("models")
  .description("list models that can be prepared by name, with their licences, and where they fit")
  .option("--json", "print the list as JSON")
  .addHelpText(
    "after",
    "\nOther models of the supported families can be prepared too: give a folder, or org/name of the Hugging Face Hub.",
  )
  .action(async ({ json }: { json?: true }) => {
    const { catalogue } = await import("../compile/checkpoint/hub/catalogue.ts");
    const { estimatedBytes, estimatedFit } = await import("../compile/latency/platforms/fit.ts");
    const models = Object.entries(catalogue()).map(([name, model]) => ({
      name,
      ...model,
      int8Bytes: estimatedBytes(model),
      fits: estimatedFit(model),
    }));
    if (json) return printJson(models);
    const rowsOf = (use: string) =>
      models
        .filter((model) => model.use === use)
        .map(({ name, languages, maxTokens, licence, int8Bytes, fits }) => [
          name,
          languages.length > LISTED_LANGUAGES || languages.includes("multilingual") ? "many" : languages.join(" "),
          `${maxTokens}`,
          `${Math.round(int8Bytes / 1e6)} MB`,
          FITS[fits],
          licence,
        ]);
    const uses = [...new Set(models.map(({ use }) => use))];
    const rows = uses.flatMap((use) => [[], [use], ...rowsOf(use)]).slice(1);
    printResult(table(["model", "lang", "tokens", "int8", "fits", "licence"], rows));
    printResult(NOTES);
  });

/** Short forms of where a model fits, which the notes explain. */
const FITS: Readonly<Record<EstimatedFit, string>> = {
  edge: "edge",
  "edge, --table int4": "table",
  "edge, --table int4 --weights int4": "int4",
  region: "region",
};

/** Maximum number of languages that are listed. */
const LISTED_LANGUAGES = 2;

const NOTES = `
fits (estimated): edge; table: edge with --table int4;
  int4: edge with --table int4 --weights int4; region: only a region
Next: npx bert-edge prepare <model> --out models/<model>`;
