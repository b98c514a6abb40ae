import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** A source file with its imports and exports. Paths are relative to `sdk/src`. */
export interface SourceFile {
  readonly path: string;
  /** Imported files of the SDK, including type imports. */
  readonly imports: readonly string[];
  /** Files of the SDK that the file starts as workers or subprocesses. */
  readonly scripts: readonly string[];
  /** Imported Node built-ins, such as `node:fs`. */
  readonly builtIns: readonly string[];
  /** Names that the file declares and exports, without re-exports. */
  readonly declares: readonly string[];
  readonly lines: number;
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(\s*|^import\s*)["']([^"'\n]+)["']/gm;
/** A script beside the file, or the path of a module of the SDK without its extension. */
const SCRIPT = /\bnew URL\("(\.[^"]+)\.js", import\.meta\.url\)|\bownModule\("([^"]+)"\)/g;
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** Lists what a file imports, as it is written. */
export const importsOf = (text: string): string[] =>
  [...text.matchAll(SPECIFIER)].map(([, specifier = ""]) => specifier);

/** Parses the text of one file. */
export function parseSource(path: string, text: string): SourceFile {
  const specifiers = importsOf(text);
  const fromRoot = (relative: string) => posix.join(dirname(path), relative);
  const relative = specifiers.filter((specifier) => specifier.startsWith("."));
  return {
    path,
    imports: relative.map(fromRoot),
    scripts: [...text.matchAll(SCRIPT)].map(([, beside, own]) => (own ? `${own}.ts` : fromRoot(`${beside}.ts`))),
    builtIns: specifiers.filter((specifier) => specifier.startsWith("node:")),
    declares: [...new Set([...text.matchAll(DECLARATION)].map(([, name = ""]) => name))],
    lines: text.split("\n").length - 1,
  };
}

/** Reads every source file of the SDK, without tests and AssemblyScript. */
export function readSources(root: string): SourceFile[] {
  return globSync("**/*.ts", { cwd: root })
    .filter((path) => !/\.test(-d)?\.ts$/.test(path) && !path.includes("/assembly/"))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(root, path), "utf8")));
}

/** Lists the files of the SDK that its AssemblyScript imports. */
export const readAssemblyImports = (root: string): string[] =>
  globSync("**/assembly/**/*.ts", { cwd: root }).flatMap((path) =>
    importsOf(readFileSync(join(root, path), "utf8")).map((name) => `${posix.join(dirname(path), name)}.ts`),
  );

/**
 * Reads the entries of a package: its exports, what its commands import from `dist`, and the programs that its build embeds.
 *
 * @param root folder of package.json
 * @returns paths relative to `sdk/src`
 */
export function readEntries(root: string): string[] {
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const { bin, exports } = JSON.parse(read("package.json")) as { bin: Record<string, string>; exports: object };
  const texts = [JSON.stringify(exports), ...Object.values(bin).map(read)];
  const embedded = [...read("build/build-embedded.ts").matchAll(/"src\/([^"]+\.ts)"/g)].map(([, path = ""]) => path);
  const built = texts.flatMap((text) => [...text.matchAll(/\bdist\/([^"*]+)\.js"/g)].map(([, path]) => `${path}.ts`));
  return [...built, ...embedded];
}
