import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The first of some programs that is installed here: where PATH says, npm's own folder included. */
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
