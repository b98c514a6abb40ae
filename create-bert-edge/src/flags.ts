import { parseArgs } from "node:util";
import type { PackageManager } from "./package-manager.ts";
import * as questions from "./questions.ts";
import { ScaffoldError } from "./scaffold-error.ts";

const options = {
  add: { type: "string" },
  template: { type: "string" },
  model: { type: "string" },
  plan: { type: "string" },
  region: { type: "string" },
  "package-manager": { type: "string" },
  "no-install": { type: "boolean" },
  "no-git": { type: "boolean" },
  yes: { type: "boolean", short: "y" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/** The flags of the command line. A choice without its flag is undefined. */
export interface Flags {
  /** Part to add to an existing project; undefined to create a project. */
  add: "region" | undefined;
  folder: string | undefined;
  model: questions.Model | undefined;
  plan: questions.Plan | undefined;
  /** The regions that the flags allow: one if it is chosen. */
  regions: readonly questions.Region[];
  packageManager: PackageManager | undefined;
  install: boolean;
  git: boolean;
  yes: boolean;
  help: boolean;
  version: boolean;
}

/** @throws ScaffoldError `flag_unknown`, `flag_invalid` */
export function parseFlags(args: readonly string[]): Flags {
  refuseUnknown(args);
  const { values, positionals } = parse(args);
  const [folder, ...others] = positionals;
  if (others.length > 0) {
    throw new ScaffoldError(
      "flag_invalid",
      `There is more than one folder: ${positionals.join(", ")}.`,
      "Give one folder.",
    );
  }
  if (values.add !== undefined) refuseOfNew(values);
  const template = oneOf("template", values.template, Object.keys(questions.regionsOf) as questions.Template[]);
  const region = oneOf("region", values.region, questions.valuesOf(questions.region));
  return {
    add: oneOf("add", values.add, ["region"] as const),
    folder,
    model: oneOf("model", values.model, questions.valuesOf(questions.model)),
    plan: oneOf("plan", values.plan, questions.valuesOf(questions.plan)),
    regions: allowedRegions(template, region),
    packageManager: oneOf("package-manager", values["package-manager"], questions.valuesOf(questions.packageManager)),
    install: !values["no-install"],
    git: !values["no-git"],
    yes: values.yes ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

/** Refuses flags that only a new project can have. */
function refuseOfNew(values: { readonly [name: string]: unknown }): void {
  const other = (["template", "model", "plan", "no-git"] as const).find((name) => values[name] !== undefined);
  const flag = values["region"] === "none" ? "--region none" : other && `--${other}`;
  if (flag === undefined) return;
  throw new ScaffoldError(
    "flag_invalid",
    `${flag} is for new projects, and --add is for an existing one.`,
    `Leave ${flag} out.`,
  );
}

function refuseUnknown(args: readonly string[]): void {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const unknown = tokens.flatMap((token) =>
    token.kind === "option" && !Object.hasOwn(options, token.name) ? [token.rawName] : [],
  );
  if (unknown.length === 0) return;
  const known = Object.keys(options).map((name) => `--${name}`);
  throw new ScaffoldError(
    "flag_unknown",
    unknown.length === 1 ? `There is no flag ${unknown[0]}.` : `There are no flags ${unknown.join(", ")}.`,
    `The flags are: ${known.join(", ")}.`,
  );
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // A flag without its value, or a value for a flag that takes none.
    if (!(error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS")) throw error;
    throw new ScaffoldError("flag_invalid", (error as Error).message, "See `npx create-bert-edge --help`.");
  }
}

function oneOf<Value extends string>(
  flag: string,
  value: string | undefined,
  values: readonly Value[],
): Value | undefined {
  const chosen = values.find((known) => known === value);
  if (chosen !== undefined || value === undefined) return chosen;
  throw new ScaffoldError("flag_invalid", `--${flag} cannot be ${value}.`, `Use one of: ${values.join(", ")}.`);
}

function allowedRegions(
  template: questions.Template | undefined,
  region: questions.Region | undefined,
): readonly questions.Region[] {
  const ofTemplate = template ? questions.regionsOf[template] : questions.valuesOf(questions.region);
  if (region === undefined) return ofTemplate;
  if (ofTemplate.includes(region)) return [region];
  throw new ScaffoldError(
    "flag_invalid",
    `--template ${template} and --region ${region} contradict each other.`,
    `Leave --template out: --region ${region} says everything.`,
  );
}
