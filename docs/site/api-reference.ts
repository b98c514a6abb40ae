import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Declaration {
  readonly name: string;
  /** Comment above the declaration, without its asterisks. */
  readonly comment: string;
  readonly code: string;
}

/** Makes the reference of the package's entries in Markdown, from the declarations that the build wrote. */
export function apiReference(sdk: string): string {
  const { exports } = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as {
    exports: Readonly<Record<string, string | { types: string }>>;
  };
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === "string" || !target.types.startsWith("./dist/") ? [] : [[path, target.types] as const],
  );
  const sections = entries.map(([path, types]) => {
    const declared = exportedBy(join(sdk, types)).sort((a, b) => a.name.localeCompare(b.name));
    const parts = declared.map(({ name, comment, code }) => `### ${name}\n\n${comment}\n\n\`\`\`ts\n${code}\n\`\`\`\n`);
    return `## bert-edge${path.slice(1)}\n\n${parts.join("\n")}`;
  });
  return `# API reference\n\nThe entries of the package \`bert-edge\`, and what they export.\n\n${sections.join("\n")}`;
}

/** Returns the declarations that a file exports, wherever they are. */
function exportedBy(path: string): Declaration[] {
  const source = readFileSync(path, "utf8");
  const own = declarationsIn(source);
  const named = [...source.matchAll(/^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?/gm)];
  const others = named.flatMap(([, names = "", from]) => {
    const list = names
      .split(",")
      .flatMap((each) => /^\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(each)?.slice(1) ?? []);
    const wanted = new Set(list);
    if (from === undefined) return own.filter(({ name }) => wanted.has(name));
    if (!from.startsWith(".")) return [];
    return exportedBy(join(path, "..", from.replace(/\.[jt]s$/, ".d.ts"))).filter(({ name }) => wanted.has(name));
  });
  const direct = own.filter(({ code }) => code.startsWith("export "));
  const byName = Object.groupBy([...direct, ...others], ({ name }) => name);
  return Object.entries(byName).flatMap(([name, same = []]) => merged(name, same));
}

/** Joins declarations of one name: overloads of a function, a class and its interface; of a schema and its type, only the type. */
function merged(name: string, declarations: readonly Declaration[]): Declaration[] {
  const types = declarations.filter(({ code }) => /^(export )?(type|interface) /.test(code));
  const isClass = declarations.some(({ code }) => /^(export )?(declare )?class /.test(code));
  const chosen = types.length > 0 && !isClass ? types.slice(0, 1) : declarations;
  const comment = declarations.map((each) => each.comment).find((text) => text !== "") ?? "";
  return [{ name, comment, code: [...new Set(chosen.map(({ code }) => code))].join("\n") }];
}

/** Splits a declaration file, in which tsc starts each statement in the first column. */
function declarationsIn(source: string): Declaration[] {
  const statement =
    /(?:^\/\*\*(?<comment>[\s\S]*?)\*\/\n)?^(?<code>(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|function|interface|type|const|let) (?<name>\w+)[\s\S]*?)(?=\n(?:\/\*\*|export |declare |import |interface |type |class )|\n*$(?![\s\S]))/gm;
  return [...source.matchAll(statement)].map(({ groups = {} }) => ({
    name: groups["name"] ?? "",
    comment: (groups["comment"] ?? "")
      .split("\n")
      .map((line) => line.replace(/^\s*\* ?/, ""))
      .join("\n")
      .replaceAll("<", "&lt;")
      .trim(),
    code: (groups["code"] ?? "").replaceAll("export declare ", "export ").trim(),
  }));
}
