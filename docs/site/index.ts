// Builds the documentation as a static site in dist/docs: `npm run docs`. Fails if a link is dead.
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { apiReference } from "./api-reference.ts";
import { deadLinks } from "./dead-links.ts";
import { layout } from "./layout.ts";
import { type RenderedPage, rendered } from "./markdown.ts";
import { menu } from "./pages.ts";

const root = join(import.meta.dirname, "../..");
const out = join(root, "dist/docs");
/** Files of the repository that the site has under another name. */
const others: Readonly<Record<string, string>> = { "../README.md": "index.html", "docs/": "" };

/** Rewrites a link for the site. Files of the repository that are not part of the site have no page. */
function linkTo(target: string): string {
  if (/^[a-z]+:|^#/.test(target)) return target;
  const [file = "", anchor] = target.split("#");
  const page = others[file] ?? basename(file).replace(/\.md$/, ".html");
  return anchor === undefined ? page : `${page}#${anchor}`;
}

/** Renders the documents of the repository, by path. */
export function renderedDocuments(): Map<string, RenderedPage> {
  const files = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...globSync("docs/**/*.md", { cwd: root })];
  return new Map(files.map((file) => [file, rendered(readFileSync(join(root, file), "utf8"), linkTo)]));
}

/** @returns the dead links; the site is written only if there are none */
export function buildSite(): string[] {
  const pages = renderedDocuments();
  const dead = deadLinks(root, pages);
  if (dead.length > 0) return dead;
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const write = (file: string, { title, html }: RenderedPage) => {
    const name = file === "README.md" ? "index.html" : `${basename(file, ".md")}.html`;
    writeFileSync(join(out, name), layout(basename(file), title, html));
  };
  for (const [file, page] of pages) write(file, page);
  write("api.md", rendered(apiReference(join(root, "sdk")), linkTo));
  cpSync(join(import.meta.dirname, "site.css"), join(out, "site.css"));
  cpSync(join(root, "docs/images"), join(out, "images"), { recursive: true });
  for (const file of globSync("docs/*.{svg,json}", { cwd: root })) cpSync(join(root, file), join(out, basename(file)));
  return [];
}

/** Files of `docs/` that the menu does not name. */
export const missingInMenu = (): string[] => {
  const named = new Set(menu.flatMap(([, pages]) => pages.map(([file]) => file)));
  return globSync("*.md", { cwd: join(root, "docs") }).filter((file) => !named.has(file));
};

if (import.meta.main) {
  const dead = buildSite();
  if (dead.length > 0) {
    console.error(`Dead links:\n${dead.join("\n")}`);
    process.exitCode = 1;
  } else console.log(`The documentation is in ${out}.`);
}
