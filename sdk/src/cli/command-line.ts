import { CommanderError } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { printError, printErrorJson, ReportedFailure } from "./output.ts";
import { program } from "./program.ts";

/** Exit codes. 0: success. 1: the command failed, or a check refused the result. 2: wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs a command, and prints what it throws.
 *
 * @param args arguments after `bert-edge`
 * @returns the exit code
 */
export async function commandLine(args: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof ReportedFailure) return FAILED;
    // commander has printed the help, either on request or because the command is missing.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    printError(error);
    if (wantsJson(args)) printErrorJson(error);
    return error instanceof BertEdgeError && error.code === "usage_invalid" ? WRONG_USAGE : FAILED;
  }
}

/** Whether the arguments include `--json`. commander does not parse the options of a command that is called in a wrong way. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).includes("--json");
}
