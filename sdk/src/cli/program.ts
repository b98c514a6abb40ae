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
import { printNote, printResult } from "./output.ts";
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
  .version(version)
  .configureHelp({ subcommandTerm: (each) => `${each.name()} ${each.usage().replace(/^\[options\] ?/, "")}`.trim() })
  .commandsGroup("Help:")
  .helpCommand(true)
  .addHelpText("after", "\n`npx bert-edge <command> --help` explains a command.");

/** The commands as the help lists them, with what each does in a line. The description of a command is longer. */
const groups: Readonly<Record<string, readonly (readonly [command: Command, summary: string])[]>> = {
  Models: [
    [modelsCommand, "list models that can be prepared by name"],
    [prepareCommand, "make a model small and fast, check its accuracy"],
    [verifyCommand, "measure the accuracy of an artifact"],
    [benchCommand, "time the engines of an artifact"],
    [inspectCommand, "show what a model or a deployment consists of"],
    [optimizeCommand, "fuse the operators of an ONNX file"],
    [quantizeCommand, "fuse and quantize an ONNX file"],
  ],
  "On this machine": [
    [devCommand, "run a project: edge, region and page"],
    [embedCommand, "embed each line of stdin"],
    [batchCommand, "embed the records of a JSONL file"],
  ],
  Deployments: [
    [deployCommand, "deploy a project: bucket, model, region, Worker"],
    [checkCommand, "prove that a deployment works"],
    [publishCommand, "copy an artifact to a bucket"],
    [listCommand, "list the published versions"],
    [promoteCommand, "make a version the current one"],
    [rollbackCommand, "go back to the version before"],
    [gcCommand, "remove old versions"],
    [keysCommand, "make API keys, and keys that sign models"],
  ],
  Help: [
    [doctorCommand, "find what is wrong here, and how to fix it"],
    [explainCommand, "explain an error code or a reason"],
    [completionCommand(program), "print a script that completes commands in a shell"],
  ],
};
for (const [heading, commands] of Object.entries(groups)) {
  for (const [command, summary] of commands) program.addCommand(command.summary(summary).helpGroup(`${heading}:`));
}
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
 * `--version` are printed like results, and still throw a CommanderError.
 */
function throwUsageErrors(command: Command): void {
  command.configureOutput({
    writeOut: (text) => printResult(text.trimEnd()),
    writeErr: (text) => printNote(text.trimEnd()),
    outputError: () => {},
  });
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
  const usage = found.startsWith("There is no option") && `Usage: \`${fullName(command)} ${command.usage()}\`.`;
  const help = `See \`npx ${fullName(command)} --help\`.`;
  const hint = [suggestion ?? usage, help].filter(Boolean).join(" ");
  return new BertEdgeError("usage_invalid", found, { hint });
}

const fullName = (command: Command): string =>
  command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
