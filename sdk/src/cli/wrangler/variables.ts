import { statSync } from "node:fs";
import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../compile/files/whole-file.ts";
import { parseVariables } from "../parse-variables.ts";

/** The value of a variable, and where it stands: `CLOUDFLARE_ENV in .env`. */
export interface Variable {
  readonly value: string;
  readonly from: string;
}

/** Returns a variable; undefined if it is not set, or empty. */
export type Variables = (name: string) => Variable | undefined;

/** The files that wrangler reads variables from. Later files overrule earlier ones. Those of an environment count only with `--env`. */
const envFiles = (option: string | undefined): string[] => [
  ...[".env", ".env.local"],
  ...(option ? [`.env.${option}`, `.env.${option}.local`] : []),
];

/** Reads a file of variables; empty without it. A folder of this name is no such file: Python's tools make one. */
function variablesOf(path: string): NodeJS.Dict<string> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? parseVariables(wholeTextSync(path, MAX_SETTINGS_BYTES)) : {};
}

/** Reads all variables of the `.env` files, as `wrangler dev` gives them to a Worker without `.dev.vars`. */
export const envFileVariables = (root: string, option: string | undefined): NodeJS.Dict<string> =>
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
