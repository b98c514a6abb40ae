import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A declaration in a file: `path#Name`. Names from other packages are excluded. */
type Declaration = string;

interface DeclarationFile {
  /** Text of each top-level declaration, by name. */
  readonly declared: ReadonlyMap<string, string>;
  /** Imports and re-exports from relative paths: local name → path of the other file, and the name in that file. */
  readonly imported: ReadonlyMap<string, { readonly path: string; readonly name: string }>;
  /** Exported name → local name. */
  readonly exported: ReadonlyMap<string, string>;
}

const files = new Map<string, DeclarationFile>();

/** Reads a .d.ts file as tsc writes it: every top-level statement starts in the first column. */
function read(path: string): DeclarationFile {
  const known = files.get(path);
  if (known) return known;
  const declared = new Map<string, string>();
  const imported = new Map<string, { path: string; name: string }>();
  const exported = new Map<string, string>();
  const source = readFileSync(path, "utf8")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/^\s*\/\/.*$/gm, "");
  for (const statement of source.split(/^(?=[a-z])/m)) {
    const list = /^(import|export)\s+(?:type\s+)?\{([^}]*)\}(?:\s+from\s+"([^"]+)")?/.exec(statement);
    if (list) {
      const [, kind, names = "", from] = list;
      for (const item of names.split(",")) {
        const [, name, alias = name] = /^\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(item) ?? [];
        if (!name || !alias) continue;
        if (from?.startsWith("."))
          imported.set(alias, { path: join(dirname(path), from.replace(/\.[jt]s$/, ".d.ts")), name });
        if (kind === "export") exported.set(alias, from ? alias : name);
      }
      continue;
    }
    const [, isExported, name] =
      /^(export )?(?:default )?(?:declare )?(?:abstract )?(?:function|class|interface|type|const|let)\s+(\w+)/.exec(
        statement,
      ) ?? [];
    if (!name) continue;
    declared.set(name, `${declared.get(name) ?? ""}\n${statement}`);
    if (isExported) exported.set(name, name);
  }
  const file = { declared, imported, exported };
  files.set(path, file);
  return file;
}

/** Finds the file that declares a name. Returns undefined for names of the language and of other packages. */
function resolve(path: string, name: string): { path: string; name: string } | undefined {
  const { declared, imported } = read(path);
  if (declared.has(name)) return { path, name };
  const from = imported.get(name);
  if (!from) return undefined;
  return resolve(from.path, read(from.path).exported.get(from.name) ?? from.name);
}

const keyOf = ({ path, name }: { path: string; name: string }): Declaration => `${path}#${name}`;

const VALUE = /^(export )?(default )?(declare )?(abstract )?(function|class|const|let)\b/m;

/** Removes string literals, `typeof x`, the base of `Pick<Base, …>` and private members. Users never need to name these types. */
const typeText = (text: string): string =>
  text.replace(/"[^"]*"|typeof [\w.]+|\b(?:Pick|Omit)<\w+|^\s*private .*$/gm, "");

/**
 * Lists types that functions and classes of an entry take or return, but that cannot be imported from that entry. Types of fields
 * are not listed: users can write `Options["field"]`.
 *
 * @returns `Name (in Declaration)`
 */
export function unnamedTypes(entry: string): string[] {
  const roots = [...read(entry).exported.keys()].flatMap((name) => resolve(entry, name) ?? []);
  const nameable = new Set(roots.map(keyOf));
  const missing = new Set<string>();
  for (const root of roots) {
    const text = read(root.path).declared.get(root.name) ?? "";
    if (!VALUE.test(text.trimStart())) continue;
    for (const [word] of typeText(text).matchAll(/\b[A-Z]\w*\b/g)) {
      const type = resolve(root.path, word);
      if (type && !nameable.has(keyOf(type))) missing.add(`${type.name} (in ${root.name})`);
    }
  }
  return [...missing].sort();
}

/** Lists the names that an entry exports: values, and types. */
export function exportedNames(entry: string): { values: string[]; types: string[] } {
  const { exported } = read(entry);
  const names = { values: [] as string[], types: [] as string[] };
  for (const name of [...exported.keys()].sort()) {
    const found = resolve(entry, name);
    const text = found && read(found.path).declared.get(found.name);
    const isValue = VALUE.test(text?.trimStart() ?? "");
    names[isValue ? "values" : "types"].push(name);
  }
  return names;
}
