import { readFileSync } from "node:fs";
import { Command, type CommanderError } from "commander";
import { BertEdgeError } from "../artifact/error.ts";
import { ownFolder } from "../local/own-module.ts";
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
import { prepareCommand } from "./prepare.ts";
import { promoteCommand, rollbackCommand } from "./promote.ts";
import { publishCommand } from "./publish.ts";
import { quantizeCommand } from "./quantize.ts";
import { verifyCommand } from "./verify.ts";

const { version } = JSON.parse(readFileSync(`${ownFolder()}/../package.json`, "utf8")) as {
  version: string;
};

export const program = new Command("bert-edge")
  .description("Prepare, publish and serve BERT-family models at the edge, inside a latency budget.")
  .version(version);
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
for (const command of [...commands, completionCommand(program)]) program.addCommand(command);
throwUsageErrors(program);

/** Patterns of commander's messages, and the sentences that replace them. */
const sentences: readonly (readonly [message: RegExp, sentence: string])[] = [
  [/^unknown option '(.*)'$/s, "There is no option $1."],
  [/^unknown command '(.*)'$/s, "There is no command $1."],
  [/^missing required argument '(.*)'$/s, "The argument <$1> is missing."],
  [/^required option '(.*)' not specified$/s, "The option $1 is missing."],
  [/^option '(.*)' argument missing$/s, "The option $1 has no value."],
  [
    /^too many arguments.*Expected (\d+) arguments? but got \d+: (.*)\.$/s,
    "There are too many arguments: $2. The command takes $1.",
  ],
  [/^option '(.*?)' argument '(.*)' is invalid\. (.*)$/s, "$1 cannot be $2. $3"],
  [/^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s, "<$2> cannot be $1. $3"],
];

/**
 * Makes a command, and the commands below it, throw `usage_invalid` for wrong usage. They print nothing then. Help and
 * `--version` still throw a CommanderError.
 */
function throwUsageErrors(command: Command): void {
  command.configureOutput({ outputError: () => {} });
  command.exitOverride((error) => {
    throw error.code.startsWith("commander.help") || error.exitCode === 0 ? error : usageError(error, command);
  });
  for (const each of command.commands) throwUsageErrors(each);
}

function usageError({ message }: CommanderError, command: Command): BertEdgeError {
  const [what = "", suggestion] = message.replace(/^error: /, "").split(/\n\((Did you mean .*)\)$/);
  const [pattern, sentence] = sentences.find(([each]) => each.test(what)) ?? [/\.?$/, "."];
  const found = what.replace(pattern, sentence);
  // Shows the usage, because some commands take as an argument what others take as an option.
  const usage = found.startsWith("There is no option") && `Usage: ${fullName(command)} ${command.usage()}.`;
  const help = `See ${fullName(command)} --help.`;
  const hint = [suggestion ?? usage, help].filter(Boolean).join(" ");
  return new BertEdgeError("usage_invalid", found, { hint });
}

const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
