import { existsSync } from "node:fs";
import { join } from "node:path";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../../compile/files/whole-file.ts";
import { parseVariables } from "../parse-variables.ts";
import { envFileVariables } from "../wrangler/variables.ts";

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
