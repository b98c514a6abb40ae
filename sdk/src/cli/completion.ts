import { Argument, Command } from "commander";
import { completionScript, type Shell, shells } from "./completion-script.ts";
import { printJson, printResult } from "./output.ts";

/** Makes the command that prints a completion script for the commands of `program`. */
export const completionCommand = (program: Command): Command =>
  new Command("completion")
    .description("print a script that completes commands and options in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(shells))
    .option("--json", "print the script in a JSON document")
    .addHelpText(
      "after",
      "\nbash: source <(bert-edge completion bash)\nzsh:  source <(bert-edge completion zsh)\nfish: bert-edge completion fish | source",
    )
    .action((shell: Shell, { json }: { json?: true }) => {
      const script = completionScript(shell, program);
      if (json) printJson({ shell, script });
      else printResult(script);
    });
