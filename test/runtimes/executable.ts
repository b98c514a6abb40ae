import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of the first name whose program is installed. Looks in npm's folder and in PATH. */
export function executable(...names: readonly string[]): string | undefined {
  const folders = [
    join(import.meta.dirname, "../../node_modules/.bin"),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
