import { Argument, Command } from "commander";
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

const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

/** A word that can come next in a command line, with its explanation. */
interface Word {
  readonly text: string;
  readonly description: string;
}

/** A command, and the words that can follow it. */
interface Place {
  /** Names of the command and its parents, each after a space: ` keys new`. Empty for the program. */
  readonly path: string;
  /** Subcommands, and choices of arguments. */
  readonly words: readonly Word[];
  readonly options: readonly (Word & {
    readonly takesValue: boolean;
    /** The only values that the option allows; empty if it allows any value. */
    readonly choices: readonly string[];
  })[];
}

export const completionScript = (shell: Shell, program: Command): string => scripts[shell](placesOf(program, ""));

function placesOf(command: Command, path: string): Place[] {
  const place: Place = {
    path,
    words: [
      ...command.commands.map((each) => ({ text: each.name(), description: each.description() })),
      ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
        argChoices.map((text) => ({ text, description })),
      ),
    ],
    options: [
      ...command.options.flatMap(({ long, description, required, optional, argChoices = [] }) =>
        long ? [{ text: long, description, takesValue: required || optional, choices: argChoices }] : [],
      ),
      { text: "--help", description: "display help", takesValue: false, choices: [] },
    ],
  };
  return [place, ...command.commands.flatMap((each) => placesOf(each, `${path} ${each.name()}`))];
}

const texts = (words: readonly Word[]): string => words.map(({ text }) => text).join(" ");

/** Returns the paths of all commands as quoted patterns, for `case` in bash and in fish. */
const quotedPaths = (places: readonly Place[]): string[] =>
  places.flatMap(({ path }) => (path === "" ? [] : [`'${path}'`]));

const bash = (places: readonly Place[]): string => {
  const reply = (words: string) => `COMPREPLY=($(compgen -W "${words}" -- "$word"))`;
  const values = places.flatMap(({ path, options }) =>
    options.flatMap(({ text, choices }) =>
      choices.length > 0 ? [`    '${path} ${text}') ${reply(choices.join(" "))}; return ;;`] : [],
    ),
  );
  // If no word matches, bash completes file names.
  const each = places.flatMap(({ path, words, options }) => [
    `    '${path} -') ${reply(texts(options))} ;;`,
    ...(words.length > 0 ? [`    '${path} ') ${reply(texts(words))} ;;`] : []),
  ]);
  return `_bert_edge() {
  local word="\${COMP_WORDS[COMP_CWORD]}" path= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
    ${quotedPaths(places).join("|")}) path="$path \${COMP_WORDS[i]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
  esac
  local kind=
  case "$word" in -*) kind=- ;; esac
  case "$path $kind" in
${each.join("\n")}
  esac
}
complete -o bashdefault -o default -F _bert_edge bert-edge`;
};

const fish = (places: readonly Place[]): string => {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ path, words, options }) => {
    const complete = `complete -c bert-edge -n ${quoted(`__bert_edge_at "${path}"`)}`;
    return [
      // `-f` switches file names off where words can follow.
      ...(words.length > 0 ? [`${complete} -f`] : []),
      ...words.map(({ text, description }) => `${complete} -a ${text} -d ${quoted(description)}`),
      ...options.map(({ text, description, takesValue, choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : takesValue ? " -r" : "";
        return `${complete} -l ${text.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return `function __bert_edge_at
  set -l path
  set -l words (commandline -opc)
  for word in $words[2..]
    switch "$path $word"
      case ${quotedPaths(places).join(" ")}
        set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${lines.join("\n")}`;
};

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash,
  // zsh runs completion scripts of bash.
  zsh: (places) => `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(places)}`,
  fish,
};
