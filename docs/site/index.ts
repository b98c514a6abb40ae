// Builds the documentation as a static site in dist/docs: `npm run docs`. Fails if a link is dead.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { commandLine } from "../../test/commands/command-line.ts";
import { apiReference } from "./api-reference.ts";
import { deadLinks } from "./dead-links.ts";
import { layout } from "./layout.ts";
import { linkTo, repositoryUrl } from "./link-to.ts";
import { rendered } from "./markdown.ts";
import { menu } from "./pages.ts";
import { siteFiles } from "./site-files.ts";

const root = join(import.meta.dirname, "../..");
const out = join(root, "dist/docs");

interface Site {
  /** HTML of each page, by its name. */
  readonly pages: ReadonlyMap<string, string>;
  /** Files that are copied: name in the site → path in the repository. */
  readonly copies: ReadonlyMap<string, string>;
}

/** Renders the whole site. */
export function renderedSite(): Site {
  const files = siteFiles(root);
  const { repository } = JSON.parse(readFileSync(join(root, "sdk/package.json"), "utf8")) as { repository?: string };
  const options = { root, files, repository: repositoryUrl(repository) };
  const pages = new Map<string, string>();
  const render = (path: string, name: string, markdown: string) => {
    const { html, title } = rendered(markdown, linkTo(options, path));
    pages.set(name, layout(basename(path), title, html));
  };
  const copies = new Map([["site.css", "docs/site/site.css"]]);
  for (const [path, name] of files) {
    if (path.endsWith(".md")) render(path, name, readFileSync(join(root, path), "utf8"));
    else copies.set(name, path);
  }
  render("docs/api.md", "api.html", apiReference(join(root, "sdk")));
  return { pages, copies };
}

/** @returns the dead links; the site is written only if there are none */
export function buildSite(): string[] {
  const { pages, copies } = renderedSite();
  const dead = deadLinks(pages, new Set(copies.keys()));
  if (dead.length > 0) return dead;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const [name, html] of pages) writeFileSync(join(out, name), html);
  for (const [name, path] of copies) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    cpSync(join(root, path), join(out, name));
  }
  return [];
}

/** Files of `docs/` that the menu does not name. */
export const missingInMenu = (): string[] => {
  const named = new Set(menu.flatMap(([, pages]) => pages.map(([file]) => file)));
  return globSync("*.md", { cwd: join(root, "docs") }).filter((file) => !named.has(file));
};

if (import.meta.main) {
  commandLine("npm run docs\nBuilds the documentation as a static site in dist/docs. Fails if a link is dead.");
  const dead = buildSite();
  if (dead.length > 0) {
    console.error(`Dead links:\n${dead.join("\n")}`);
    process.exitCode = 1;
  } else console.log(`The documentation is in ${out}.`);
}
