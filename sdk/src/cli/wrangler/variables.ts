import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "dotenv";
import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../compile/files/whole-file.ts";

/**
 * Parses the text of a file of variables as wrangler does, with the same library. `parseEnv` of Node.js reads neither `NAME: value` nor
 * a file with a byte order mark.
 */
export const parseVariables = parse;

/** The value of a variable, and where it stands: `CLOUDFLARE_ENV in .env`. */
interface Variable {
  readonly value: string;
  readonly from: string;
}

/** Returns a variable; undefined if it is not set, or empty. */
export type Variables = (name: string) => Variable | undefined;

/** Returns the files that wrangler reads variables from. Later files overrule earlier ones. Only `--env` adds an environment's files. */
const envFiles = (option: string | undefined): string[] => [
  ...[".env", ".env.local"],
  ...(option ? [`.env.${option}`, `.env.${option}.local`] : []),
];

/** Reads a file of variables. Returns none if the path is missing or is a folder: tools of Python make folders named `.env`. */
function variablesOf(path: string): NodeJS.Dict<string> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? parseVariables(wholeTextSync(path, MAX_SETTINGS_BYTES)) : {};
}

/** Reads all variables of the `.env` files, as `wrangler dev` gives them to a Worker without `.dev.vars`. */
const envFileVariables = (root: string, option: string | undefined): NodeJS.Dict<string> =>
  Object.assign({}, ...envFiles(option).map((name) => variablesOf(join(root, name))));

/**
 * Reads variables as wrangler's program does: first those of this process, then those of its files. Each file is read once.
 *
 * @param root the project's folder
 * @param option the option `--env`
 */
export function wranglerVariables(root: string, option: string | undefined): Variables {
  let files: { name: string; values: NodeJS.Dict<string> }[] | undefined;
  return (variable) => {
    const own = process.env[variable];
    if (own) return { value: own, from: variable };
    files ??= envFiles(option).map((name) => ({ name, values: variablesOf(join(root, name)) }));
    const { name, values } = files.findLast(({ values }) => values[variable] !== undefined) ?? {};
    const value = values?.[variable];
    if (!value) return undefined;
    if (!value.includes("$")) return { value, from: `${variable} in ${name}` };
    throw new BertEdgeError(
      "setting_invalid",
      `${variable} in ${name} has a $, by which wrangler inserts a variable.`,
      {
        hint: `Write the value itself into ${name}, or export ${variable}.`,
      },
    );
  };
}

/** The developer's own variables and secrets. Stock `wrangler dev` reads the same file. */
export const DEV_VARS = ".dev.vars";

/**
 * Reads the developer's variables as `wrangler dev` does: from the file of the environment, else from `.dev.vars`, else from the `.env`
 * files.
 *
 * @returns the variables, and the file that they are in, or should be in
 */
export function developerVars(
  root: string,
  environment: string | undefined,
): { readonly file: string; readonly vars: NodeJS.Dict<string> } {
  const ownFiles = [...(environment === undefined ? [] : [`${DEV_VARS}.${environment}`]), DEV_VARS];
  const file = ownFiles.find((name) => existsSync(join(root, name)));
  if (file !== undefined) return { file, vars: parseVariables(wholeTextSync(join(root, file), MAX_SETTINGS_BYTES)) };
  const vars = envFileVariables(root, environment);
  return { file: Object.keys(vars).length > 0 ? ".env" : DEV_VARS, vars };
}
