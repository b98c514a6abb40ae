import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** A source file with its imports and exports. Paths are relative to `sdk/src`. */
export interface SourceFile {
  readonly path: string;
  /** Imported files of the SDK, including type imports. */
  readonly imports: readonly string[];
  /** Imported Node built-ins, such as `node:fs`. */
  readonly builtIns: readonly string[];
  /** Names that the file declares and exports, without re-exports. */
  readonly declares: readonly string[];
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(\s*|^import\s*)["']([^"'\n]+)["']/gm;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** Lists what a file imports, as it is written. */
export const importsOf = (text: string): string[] =>
  [...text.matchAll(SPECIFIER)].map(([, specifier = ""]) => specifier);

/** Parses the text of one file. */
export function parseSource(path: string, text: string): SourceFile {
  const specifiers = importsOf(text);
  const relative = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    imports: relative.map((specifier) => posix.join(dirname(path), specifier)),
    builtIns: specifiers.filter((specifier) => specifier.startsWith("node:")),
    declares: [...new Set([...text.matchAll(DECLARATION)].map(([, name = ""]) => name))],
  };
}

/** Reads every source file of the SDK, without tests and AssemblyScript. */
export function readSources(root: string): SourceFile[] {
  return globSync("**/*.ts", { cwd: root })
    .filter((path) => !/\.test(-d)?\.ts$/.test(path) && !path.includes("/assembly/"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), "utf8")));
}
