import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { importsOf } from "./imports.ts";

/** Beginnings of imports that are no relative paths, and the folders that they stand for. */
const ALIASES = [
  ["#sdk/", "sdk/src/"],
  ["#test/", "test/"],
] as const;

/** Files that a test needs. Paths are relative to the repository. */
export interface TestClosure {
  /** The test itself, and the fixtures, suites and oracles that it imports. */
  readonly own: readonly string[];
  /** Files of the product that these import, without those that the product imports itself. */
  readonly product: readonly string[];
}

/** Lists all test files of a checkout, sorted. */
export const testFiles = (root: string): string[] =>
  globSync("{sdk,create-bert-edge,bench,test,release}/**/*.test.ts", {
    cwd: root,
    exclude: ["**/node_modules/**"],
  }).sort();

/** Finds the files that a test file needs. */
export function closureOf(root: string, test: string): TestClosure {
  const [own, product] = [new Set<string>(), new Set<string>()];
  const visit = (path: string) => {
    if (own.has(path) || !path.endsWith(".ts") || !existsSync(join(root, path))) return;
    if (path.startsWith("sdk/src/") && !path.includes(".test.")) return void product.add(path);
    own.add(path);
    for (const specifier of importsOf(readFileSync(join(root, path), "utf8"))) {
      const [prefix, folder] = ALIASES.find(([start]) => specifier.startsWith(start)) ?? [];
      if (prefix !== undefined) visit(`${folder}${specifier.slice(prefix.length)}`);
      else if (specifier.startsWith(".")) visit(posix.join(dirname(path), specifier));
    }
  };
  visit(test);
  return { own: [...own], product: [...product].sort() };
}
