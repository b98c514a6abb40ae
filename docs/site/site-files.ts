import { globSync } from "node:fs";
import { basename } from "node:path";

/** Files of the repository that the site has: path in the repository → name in the site. The site is one folder. */
export function siteFiles(root: string): Map<string, string> {
  const documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];
  const others = globSync(["docs/*.{svg,json}", "docs/images/*"], { cwd: root });
  return named([...documents.sort(), ...others.sort()]);
}

/**
 * Names the files of the site.
 *
 * @throws Error if two files would get the same name
 */
export function named(paths: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const sources = new Map([["api.html", "the API reference"]]);
  for (const path of paths) {
    const name = nameOf(path);
    const other = sources.get(name);
    if (other !== undefined)
      throw new Error(`${other} and ${path} would both be ${name} in the site. Rename one of them.`);
    sources.set(name, path);
    names.set(path, name);
  }
  return names;
}

function nameOf(path: string): string {
  if (path === "README.md") return "index.html";
  return path.startsWith("docs/images/") ? path.slice("docs/".length) : basename(path).replace(/\.md$/, ".html");
}
