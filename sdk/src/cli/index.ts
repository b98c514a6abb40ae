import { CommanderError } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { printError, printErrorJson } from "./output.ts";
import { program } from "./program.ts";

/** Exit codes. 0: success. 1: the command failed, or a check refused the result. 2: wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as in `bert-edge embed … | head`.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has printed the help: because it was asked for, or because there is no command.
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
  } else {
    printError(error);
    if (wantsJson(process.argv)) printErrorJson(error);
    process.exitCode = error instanceof BertEdgeError && error.code === "usage_invalid" ? WRONG_USAGE : FAILED;
  }
}

/** Commander parses no options of a command that is called in a wrong way. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).includes("--json");
}
