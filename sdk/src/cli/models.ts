import { Command } from "commander";
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
    const rows = models.map(({ name, use, languages, maxTokens, licence, int8Bytes, fits }) => [
      name,
      use,
      languages.join(" "),
      `${maxTokens}`,
      `${Math.round(int8Bytes / 1e6)} MB`,
      fits,
      licence,
    ]);
    printResult(table(["model", "for", "languages", "tokens", "int8", "fits (estimated)", "licence"], rows));
  });
