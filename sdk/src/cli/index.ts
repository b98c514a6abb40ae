import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { batchCommand } from "./batch/index.ts";
import { benchCommand } from "./bench.ts";
import { checkCommand } from "./check/index.ts";
import { completionCommand } from "./completion.ts";
import { deployCommand } from "./deploy/index.ts";
import { devCommand } from "./dev/index.ts";
import { doctorCommand } from "./doctor/index.ts";
import { embedCommand } from "./embed.ts";
import { explainCommand } from "./explain.ts";
import { gcCommand } from "./gc.ts";
import { inspectCommand } from "./inspect.ts";
import { keysCommand } from "./keys.ts";
import { listCommand } from "./list.ts";
import { modelsCommand } from "./models.ts";
import { optimizeCommand } from "./optimize.ts";
import { printError, printErrorJson } from "./output.ts";
import { prepareCommand } from "./prepare.ts";
import { promoteCommand, rollbackCommand } from "./promote.ts";
import { publishCommand } from "./publish.ts";
import { quantizeCommand } from "./quantize.ts";
import { verifyCommand } from "./verify.ts";

/** Exit codes. 0: success. 1: the command failed, or a check refused the result. 2: wrong usage. */
const FAILED = 1;
const WRONG_USAGE = 2;

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("bert-edge")
  .description("Prepare, publish and serve BERT-family models at the edge, inside a latency budget.")
  .version(version)
  .showHelpAfterError("(see bert-edge --help)");
const commands = [
  modelsCommand,
  prepareCommand,
  inspectCommand,
  optimizeCommand,
  quantizeCommand,
  verifyCommand,
  benchCommand,
  embedCommand,
  batchCommand,
  publishCommand,
  listCommand,
  promoteCommand,
  rollbackCommand,
  gcCommand,
  deployCommand,
  checkCommand,
  devCommand,
  doctorCommand,
  explainCommand,
  keysCommand,
];
for (const command of [...commands, completionCommand(program)]) {
  program.addCommand(command.copyInheritedSettings(program).exitOverride());
}
let running: Command | undefined;
program.hook("preAction", (_, command) => {
  running = command;
});

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader closed the pipe, as in `bert-edge embed … | head`.
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

try {
  await program.exitOverride().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : WRONG_USAGE;
  } else {
    printError(error);
    if (running?.opts()["json"] === true) printErrorJson(error);
    process.exitCode = FAILED;
  }
}
