import { Argument, Command } from "commander";
import { printResult } from "./output.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** A command's name, its options and its subcommands. */
interface Completion {
  readonly name: string;
  readonly description: string;
  readonly words: readonly string[];
}

/** Makes the command that prints a completion script for the commands of `program`. */
export const completionCommand = (program: Command): Command =>
  new Command("completion")
    .description("print a script that completes commands and options in your shell")
    .addArgument(new Argument("<shell>", "your shell").choices(shells))
    .addHelpText(
      "after",
      "\nbash: source <(bert-edge completion bash)\nzsh:  source <(bert-edge completion zsh)\nfish: bert-edge completion fish | source",
    )
    .action((shell: Shell) => printResult(scripts[shell](program.commands.map(completionOf))));

const completionOf = (command: Command): Completion => ({
  name: command.name(),
  description: command.description(),
  words: [
    ...command.commands.map((each) => each.name()),
    ...command.options.flatMap(({ long }) => long ?? []),
    "--help",
  ],
});

const bash = (commands: readonly Completion[]): string => `_bert_edge() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.map(({ name, words }) => `    ${name}) COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$word")) ;;`).join("\n")}
  esac
}
complete -o bashdefault -o default -F _bert_edge bert-edge`;

const scripts: Readonly<Record<Shell, (commands: readonly Completion[]) => string>> = {
  bash,
  // zsh runs completion scripts of bash.
  zsh: (commands) =>
    `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands)}`,
  fish: (commands) =>
    commands
      .flatMap(({ name, description, words }) => [
        `complete -c bert-edge -n __fish_use_subcommand -a ${name} -d '${description.replaceAll("'", "\\'")}'`,
        ...words.map((word) =>
          word.startsWith("--")
            ? `complete -c bert-edge -n '__fish_seen_subcommand_from ${name}' -l ${word.slice(2)}`
            : `complete -c bert-edge -n '__fish_seen_subcommand_from ${name}' -a ${word}`,
        ),
      ])
      .join("\n"),
};
