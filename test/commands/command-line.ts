import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

const WRONG_USAGE = 2;

/** Options and arguments of a call. */
export interface CommandLine<O extends ParseArgsOptionsConfig> {
  readonly values: ReturnType<typeof parseArgs<{ options: O; allowPositionals: true }>>["values"];
  readonly positionals: readonly string[];
  /** Ends the process: prints what is wrong, and the usage. */
  refuse(what: string): never;
}

/** Numbers that an option takes. */
export interface NumberRange {
  /** Default: any number above 0. */
  readonly min?: number;
  /** Default false. */
  readonly isWhole?: boolean;
}

/** Reads a number from an option. */
export function numberOf(
  option: string,
  text: string,
  { min, isWhole = false }: NumberRange,
  refuse: (what: string) => never,
): number {
  const number = Number(text);
  if (Number.isFinite(number) && (min === undefined ? number > 0 : number >= min)) {
    if (!isWhole || Number.isSafeInteger(number)) return number;
  }
  const range = min === undefined ? "above 0" : `of ${min} or more`;
  return refuse(`--${option} is ${text}. Give a ${isWhole ? "whole " : ""}number ${range}.`);
}

/**
 * Ends the process, with all that its module still had to do. `process.exit` would stop the threads in which V8 compiles what was just
 * loaded, and waits for ever if one of them waits for the garbage collection: https://github.com/nodejs/node/issues/54918
 */
function end(code: number): never {
  process.exitCode = code;
  process.once("uncaughtException", () => {});
  throw new Error(`The process ends with ${code}.`);
}

/**
 * Reads the command line of a script of package.json. `--help` prints the usage and ends the process with 0. An option that does not
 * exist ends it with 2, as does an argument, unless arguments are allowed.
 *
 * @param usage how the command is called, in one line, and what it does
 */
export function commandLine<const O extends ParseArgsOptionsConfig = Record<never, never>>(
  usage: string,
  options: O = {} as O,
  { allowPositionals = false } = {},
): CommandLine<O> {
  const refuse = (what: string): never => {
    console.error(`${what}\n\nusage: ${usage}`);
    return end(WRONG_USAGE);
  };
  const { values, positionals } = parsed(
    { ...options, help: { type: "boolean", short: "h" } },
    allowPositionals,
    refuse,
  );
  if ((values as { help?: boolean }).help) {
    console.log(`usage: ${usage}`);
    end(0);
  }
  return { values: values as CommandLine<O>["values"], positionals, refuse };
}

function parsed(options: ParseArgsOptionsConfig, allowPositionals: boolean, refuse: (what: string) => never) {
  try {
    return parseArgs({ options, allowPositionals });
  } catch (error) {
    return refuse((error as Error).message);
  }
}
