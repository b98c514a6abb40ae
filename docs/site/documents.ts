import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { apiReference } from "./api-reference.ts";

export const root = join(import.meta.dirname, "../..");

/** A page of the site. */
export interface Document {
  /** Path in the repository. */
  readonly path: string;
  /** Path in the site, without `.html`. */
  readonly id: string;
  readonly title: string;
  readonly markdown: string;
}

/** Path that the API reference would have, if it were written. */
const API = "docs/api.md";

/** The documents of the repository, and the API reference, which is made from the built package. */
export function documents(): Document[] {
  const written = globSync("docs/**/*.md", { cwd: root, exclude: ["docs/site/**"] });
  const paths = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...written.sort()];
  const read = paths.map((path) => document(path, readFileSync(join(root, path), "utf8")));
  return [...read, document(API, apiReference(join(root, "sdk")))];
}

const document = (path: string, markdown: string): Document => ({
  path,
  id:
    path === "README.md"
      ? "index"
      : path.replace(/^docs\/|\.md$/g, "").replace(/^[A-Z]+$/, (name) => name.toLowerCase()),
  title: (/^# (.+)$/m.exec(markdown)?.[1] ?? path).replaceAll("`", ""),
  markdown,
});
