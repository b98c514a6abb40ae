import { type CANCEL_SYMBOL, cancel, intro, isCancel, log, select, text } from "@clack/prompts";
import { COLUMNS } from "../../sdk/src/cli/screen/on-screen.ts";
import type { Flags } from "./flags.ts";
import { optionsNote } from "./help.ts";
import { runningPackageManager } from "./package-manager.ts";
import type { Project } from "./project.ts";
import { assertUsable, projectName } from "./project-folder.ts";
import * as questions from "./questions.ts";
import { ScaffoldError } from "./scaffold-error.ts";

const DEFAULT_FOLDER = "my-api";

/** A project, and the folder where it is created. */
export interface Choices extends Project {
  readonly folder: string;
}

/** Takes the flags and the defaults. */
export function chooseDefaults(flags: Flags, userAgent: string | undefined): Choices {
  const folder = flags.folder ?? DEFAULT_FOLDER;
  return {
    folder,
    name: projectName(folder),
    model: flags.model ?? "embedded",
    plan: flags.plan ?? "free",
    region: flags.regions[0] ?? "none",
    packageManager: flags.packageManager ?? runningPackageManager(userAgent),
  };
}

/**
 * Asks for everything that no flag says.
 *
 * @returns undefined if the user cancels
 */
export async function chooseInteractively(flags: Flags, userAgent: string | undefined): Promise<Choices | undefined> {
  // Some terminals report no width. Prompts would then have one character per line.
  process.stdout.columns ||= COLUMNS;
  intro("create-bert-edge");
  log.message(optionsNote);
  try {
    const folder = flags.folder ?? (await askFolder());
    return {
      folder,
      name: projectName(folder),
      model: flags.model ?? (await ask(questions.model)),
      plan: flags.plan ?? (await ask(questions.plan)),
      region: await ask(questions.region, flags.regions),
      packageManager:
        flags.packageManager ?? (await ask(questions.packageManager, undefined, runningPackageManager(userAgent))),
    };
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    cancel("Nothing was created.");
    return undefined;
  }
}

class Cancelled extends Error {}

const askFolder = async (): Promise<string> =>
  answered(
    await text({
      message: "In which folder? Its name becomes the name of the Worker.",
      placeholder: DEFAULT_FOLDER,
      defaultValue: DEFAULT_FOLDER,
      validate: (folder) => problemOf(folder || DEFAULT_FOLDER),
    }),
  );

/** Asks a question if there is more than one value to choose from. */
async function ask<Value extends string>(
  question: questions.Question<Value>,
  values: readonly Value[] = questions.valuesOf(question),
  initialValue = values[0] as Value,
): Promise<Value> {
  if (values.length === 1) return initialValue;
  const choice = await select<string>({
    message: question.message,
    initialValue,
    options: values.map((value) => ({ value, label: value, hint: question.values[value] })),
  });
  return answered(choice) as Value;
}

function answered(answer: string | typeof CANCEL_SYMBOL): string {
  if (isCancel(answer)) throw new Cancelled();
  return answer;
}

function problemOf(folder: string): string | undefined {
  try {
    assertUsable(folder);
    return undefined;
  } catch (error) {
    if (!(error instanceof ScaffoldError)) throw error;
    // The other hints are about the command line.
    return error.code === "name_invalid" ? `${error.message} ${error.hint}` : error.message;
  }
}
