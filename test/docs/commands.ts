import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "#sdk/cli/program.ts";
import root from "../../package.json" with { type: "json" };

const repository = join(import.meta.dirname, "../..");

/** Packages that a page runs on purpose, although they are not installed here. */
const FOREIGN = ["create-bert-edge", "pin-github-action"];
/** Commands about files and programs that the reader has. */
const OF_PROJECT = /create-bert-edge|# in a project/;

type Command = typeof program;
type Scripts = Readonly<Record<string, string>>;

interface Page {
  readonly path: string;
  readonly text: string;
  /** Scripts of the project that the page is about. Default: those of this repository. */
  readonly scripts?: Scripts;
}

/** A command that a page shows: a line of a block, or inline code. */
interface Documented {
  readonly line: number;
  readonly code: string;
  readonly isOfProject: boolean;
}

function documented({ text }: Page): Documented[] {
  const lineAt = (index: number) => text.slice(0, index).split("\n").length;
  const blocks = [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].flatMap(({ 0: block, 1: code = "", index }) =>
    code.split("\n").map((each, i) => ({
      line: lineAt(index) + 1 + i,
      code: each,
      isOfProject: OF_PROJECT.test(block.includes("create-bert-edge") ? block : each),
    })),
  );
  const inline = [
    ...text.replace(/^```[\s\S]*?^```$/gm, (block) => block.replace(/[^\n]/g, " ")).matchAll(/`([^`]+)`/g),
  ];
  return [...blocks, ...inline.map(({ 1: code = "", index }) => ({ line: lineAt(index), code, isOfProject: false }))];
}

/** Finds every command of a page that cannot be run: `file:line: why`. */
export function wrongCommands(page: Page, projectScripts: Scripts): string[] {
  return documented(page).flatMap(({ line, code, isOfProject }) =>
    commandsIn(code).flatMap(({ program, args }) => {
      const scripts = page.scripts ?? (isOfProject ? projectScripts : root.scripts);
      return faultsOf(program, args, scripts).map((fault) => `${page.path}:${line}: ${fault}`);
    }),
  );
}

/** Returns the commands of npm, npx and bert-edge in a line of a shell. */
function commandsIn(code: string): { program: string; args: string[] }[] {
  return code
    .replace(/(^|\s)#\s.*$/s, "")
    .split(/&&|\|\|?|;|<\(|\)/)
    .map((part) => part.trim().replace(/^(?:[A-Z_]+=\S* )+/, ""))
    .flatMap((command) => {
      const [program = "", ...args] = command.split(/\s+/).filter((word) => word !== "");
      return ["npm", "npx", "bert-edge"].includes(program) && args.length > 0 ? [{ program, args }] : [];
    });
}

function faultsOf(program: string, args: readonly string[], scripts: Scripts): string[] {
  const [name = "", ...rest] = args.filter((arg) => arg !== "--silent");
  if (program === "bert-edge") return faultsOfBertEdge(args);
  if (program === "npx") return faultsOfTool(name.replace(/@[\w.^]+$/, ""), rest);
  if (name === "start" || name === "test") return faultsOfScript(name, rest, scripts);
  return name === "run" ? faultsOfScript(rest[0] ?? "", rest.slice(1), scripts) : [];
}

function faultsOfScript(name: string, args: readonly string[], scripts: Scripts): string[] {
  const script = scripts[name];
  if (script === undefined) return [`There is no script ${name}.`];
  const file = /\bnode (\S+\.ts)\b/.exec(script)?.[1];
  if (file === undefined || args[0] !== "--") return [];
  if (file !== "bench/index.ts") return unknownOptions(file, args);
  const benchmark = join("bench", `${args[1]}.ts`);
  if (!existsSync(join(repository, benchmark))) return [`${args[1]} is no benchmark.`];
  return unknownOptions(benchmark, args);
}

/** Where the options of all benchmarks are. */
const BENCHMARK_OPTIONS = "bench/command.ts";

/** Names the options that a script does not define: it has each as the key of an option for `parseArgs`, or in its text. */
function unknownOptions(file: string, args: readonly string[]): string[] {
  const files = file.startsWith("bench/") ? [file, BENCHMARK_OPTIONS] : [file];
  const source = files.map((path) => readFileSync(join(repository, path), "utf8")).join("\n");
  const isKnown = (option: string) => new RegExp(`\\b${option.slice(2)}"?: \\{ type: |"${option}"`).test(source);
  return optionsOf(args)
    .filter((option) => !isKnown(option))
    .map((option) => `${file} has no option ${option}.`);
}

const optionsOf = (args: readonly string[]): string[] => args.flatMap((arg) => /^--[a-z][\w-]*/.exec(arg)?.[0] ?? []);

function faultsOfTool(name: string, args: readonly string[]): string[] {
  if (name === "bert-edge") return faultsOfBertEdge(args);
  if (!tools().has(name) && !FOREIGN.includes(name)) return [`${name} is the command of no dependency.`];
  if (name !== "vitest") return [];
  const paths = args.filter((arg) => /[/.]/.test(arg) && !arg.startsWith("-"));
  return paths.filter((path) => !existsSync(join(repository, path))).map((path) => `There are no tests at ${path}.`);
}

/** The commands that the packages of this repository install. */
function tools(): Set<string> {
  const packages = { ...root.dependencies, ...root.devDependencies };
  const manifests = Object.keys(packages).map((name) => join(repository, "node_modules", name, "package.json"));
  return new Set(
    manifests.flatMap((path) => {
      const { name, bin = {} } = JSON.parse(readFileSync(path, "utf8")) as { name: string; bin?: string | Scripts };
      return typeof bin === "string" ? [name] : Object.keys(bin);
    }),
  );
}

function faultsOfBertEdge(args: readonly string[]): string[] {
  let command: Command = program;
  for (const word of args) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    command = next;
  }
  const [first = ""] = args;
  // Pages write `bert-edge <command>` and `bert-edge --help`.
  if (command === program && /^\w/.test(first)) return [`bert-edge has no command ${first}.`];
  const known = new Set(["--help", "--version", ...command.options.map(({ long }) => long)]);
  return optionsOf(args)
    .filter((option) => !known.has(option))
    .map((option) => `bert-edge ${command.name()} has no option ${option}.`);
}

/** Every document except the history. */
export const documents = (): Page[] =>
  globSync(["*.md", "{docs,infra,models,test}/**/*.md", "{sdk,create-bert-edge}/*.md"], {
    cwd: repository,
    exclude: ["docs/site/node_modules"],
  })
    .filter((path) => path !== "CHANGELOG.md")
    .map((path) => ({ path, text: readFileSync(join(repository, path), "utf8") }));
