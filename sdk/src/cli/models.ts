import { Command } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { similarNames } from "../artifact/similar-names.ts";
import type { CatalogueModel } from "../compile/checkpoint/hub/catalogue.ts";
import type { EstimatedForm, FormOptions, NamedForm } from "../compile/latency/edge-forms.ts";
import { printJson, printResult, table } from "./output.ts";
import { COLUMNS, wrapped } from "./screen/on-screen.ts";

export const modelsCommand = new Command("models")
  .description("list models that can be prepared by name, with their licences, and where they fit")
  .argument("[name]", "a model of the list: says what each of its forms takes at the edge, estimated")
  .option("--json", "print as JSON")
  .addHelpText(
    "after",
    "\nOther models of the supported families can be prepared too: give a folder, or org/name of the Hugging Face Hub.",
  )
  .action(async (name: string | undefined, { json }: { json?: true }) => {
    const models = await listedModels(name);
    if (json) return printJson(name === undefined ? models : models[0]);
    const [model] = models;
    printResult(name !== undefined && model ? detailsOf(model) : listOf(models));
  });

interface ListedModel extends CatalogueModel {
  readonly name: string;
  /** Options of `prepare` of the best form that fits the edge; undefined if only a region can run the model. */
  readonly fits: FormOptions | undefined;
  readonly forms: readonly NamedForm[];
}

async function listedModels(only: string | undefined): Promise<ListedModel[]> {
  const { catalogue } = await import("../compile/checkpoint/hub/catalogue.ts");
  const { bestForm, estimatedForms, shapeOfModel } = await import("../compile/latency/edge-forms.ts");
  const all = Object.entries(catalogue());
  const chosen = all.filter(([name]) => only === undefined || name === only.toLowerCase());
  if (only !== undefined && chosen.length === 0) {
    const [similar] = similarNames(
      only,
      all.map(([name]) => name),
    );
    throw new BertEdgeError("usage_invalid", `The list has no model ${only}.`, {
      hint: `${similar ? `Did you mean ${similar}? ` : ""}All names: npx bert-edge models`,
    });
  }
  return Promise.all(
    chosen.map(async ([name, model]) => {
      const forms = await estimatedForms(shapeOfModel(model));
      return { name, ...model, fits: bestForm(forms)?.options, forms };
    }),
  );
}

function listOf(models: readonly ListedModel[]): string {
  const rowsOf = (use: string) =>
    models
      .filter((model) => model.use === use)
      .map((model) => [
        model.name,
        languagesOf(model),
        `${model.maxTokens}`,
        megabytes(int8Bytes(model)),
        fitOf(model),
        model.licence,
      ]);
  const uses = [...new Set(models.map(({ use }) => use))];
  const rows = uses.flatMap((use) => [[], [use], ...rowsOf(use)]).slice(1);
  return `${table(["model", "lang", "tokens", "int8", "fits", "licence"], rows)}\n${NOTES}`;
}

/** Short forms of options, which the notes explain. */
const FITS: Readonly<Record<FormOptions, string>> = {
  "": "edge",
  "--table int4": "table",
  "--table int4 --weights int4": "int4",
};

const int8Bytes = ({ forms: [int8] }: ListedModel): number => (int8?.fileBytes ?? 0) + (int8?.pages?.bytes ?? 0);

/** Says where a model fits. */
function fitOf({ fits, forms }: ListedModel): string {
  if (fits === undefined) return "region";
  const { pages } = forms.find(({ options }) => options === fits) ?? {};
  return `${FITS[fits]}${pages ? "*" : ""}`;
}

const languagesOf = ({ languages }: CatalogueModel): string =>
  languages.length > LISTED_LANGUAGES || languages.includes("multilingual") ? "many" : languages.join(" ");

/** Maximum number of languages that are listed. */
const LISTED_LANGUAGES = 2;

const NOTES = `
fits (estimated): edge; table: edge with --table int4;
  int4: edge with --table int4 --weights int4; region: only a region
  *: rows of rare tokens are in pages, which are read when a text needs them
A model's bytes, memory and times: npx bert-edge models <model>
Next: npx bert-edge prepare <model> --out models/<model>`;

/** Names of the forms that options make. */
const NAMES: Readonly<Record<FormOptions, string>> = {
  "": "int8",
  "--table int4": "int8, table int4",
  "--table int4 --weights int4": "int4",
};

/** Describes what each form of a model takes at the edge. */
function detailsOf(model: ListedModel): string {
  const { name, hub, use, licence, shape, maxTokens, pooling, prompts = {}, fits, forms } = model;
  const prefixes = Object.values(prompts).map((prompt) => JSON.stringify(prompt));
  const rows = forms.map((form) => [
    NAMES[form.options],
    megabytes(form.startBytes),
    mebibytes(form.memoryBytes),
    form.fits ? (form.longestText < maxTokens ? `≤ ${form.longestText}` : "✓") : "✗",
    form.pages ? `${form.pages.count}` : "",
    ...[form.ms[16], form.ms[128]].map((ms) => `${ms.toFixed(ms < 10 ? 1 : 0)} ms`),
    `${(form.coldStartMs / 1000).toFixed(2)} s`,
  ]);
  const best = forms.find(({ options }) => options === fits);
  const lines = [
    `${name}: ${use}, ${licence}, ${hub}`,
    `${shape.layers} layers of ${shape.hidden}, vocabulary of ${shape.vocabulary}, texts of ${maxTokens} tokens${pooling ? `, ${pooling} pooling` : ""}`,
    ...(prefixes.length > 0 ? [`prompts: ${prefixes.join(", ")}`] : []),
    "",
    table(["estimated", "start", "memory", "fits", "pages", "16 tok.", "128 tok.", "cold"], rows),
    "",
    ...DETAIL_NOTES,
    ...forms.flatMap(keptLine),
    "",
    best
      ? `Next: npx bert-edge prepare ${[name, ...(fits ? [fits] : [])].join(" ")} --out models/${name}`
      : `Only a region can run it: npx bert-edge prepare ${name} --targets regional-cpu --out models/${name}`,
  ];
  return lines.join("\n");
}

const DETAIL_NOTES = [
  "All figures are estimated; prepare measures memory and times.",
  "start: bytes that a typical text waits for, with the tokenizer",
  "memory: WebAssembly and tokenizer, MiB, with the longest text; a Worker has 128",
  "fits: ≤ n: with texts of up to n tokens",
  "16, 128 tok.: CPU time on a core of a Zen 5; 1.3 to 2.4 times that on a Xeon",
  "cold: first answer of an isolate, from a store of 20 ms and 50 MB/s",
];

/** Says how a form with weights of 4 bits, or with pages, is kept in memory. */
function keptLine({ options, expanded, pages, fits }: EstimatedForm & { options: FormOptions }): string[] {
  if (!fits || (!pages && expanded !== "each call")) return [];
  const parts = [
    ...(expanded === "each call" ? ["weights are expanded in each call"] : []),
    ...(pages
      ? [`${pages.resident} of ${pages.vocabulary} rows in memory, the others in ${megabytes(pages.bytes)} of pages`]
      : []),
  ];
  return wrapped(`${NAMES[options]}: ${parts.join("; ")}`, COLUMNS, 2);
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)}`;
