import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type OptionalPackage, packageMissing } from "../artifact/optional-package.ts";
import { MAX_SETTINGS_BYTES, wholeTextSync } from "../compile/files/whole-file.ts";

/**
 * Finds a file of an installed package. Searches `root` and the folders above it, as Node.js does.
 *
 * @throws BertEdgeError `package_missing`
 */
export function packageFile(root: string, name: OptionalPackage, file: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name, file);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) throw packageMissing(name);
  }
}

/**
 * Returns the version of an installed package; undefined if its package.json has none.
 *
 * @throws BertEdgeError `package_missing`
 */
export const packageVersion = (root: string, name: OptionalPackage): string | undefined =>
  (JSON.parse(wholeTextSync(packageFile(root, name, "package.json"), MAX_SETTINGS_BYTES)) as { version?: string })
    .version;
