import { posix } from "node:path";
import GithubSlugger from "github-slugger";
import { Marked } from "marked";
import type { Document } from "./documents.ts";

/**
 * Finds links of documents to files and headings that do not exist. Links to other sites are not followed.
 *
 * @param exists whether the repository has a file or folder
 * @returns `path: target` for each dead link
 */
export function deadLinks(documents: readonly Document[], exists: (path: string) => boolean): string[] {
  const read = new Map(documents.map(({ path, markdown }) => [path, targetsAndIds(markdown)]));
  const isDead = (path: string, target: string): boolean => {
    if (/^[a-z]+:/i.test(target)) return false;
    const [file = "", anchor] = target.split("#");
    const source = file === "" ? path : posix.join(posix.dirname(path), decodeURIComponent(file));
    const ids = read.get(source)?.ids;
    if (ids === undefined) return !exists(source);
    return anchor !== undefined && !ids.has(decodeURIComponent(anchor));
  };
  return [...read].flatMap(([path, { targets }]) =>
    targets.filter((target) => isDead(path, target)).map((target) => `${path}: ${target}`),
  );
}

/** Returns the targets of all links and images, and the ids of headings, which GitHub makes, and of HTML. */
function targetsAndIds(markdown: string): { targets: readonly string[]; ids: ReadonlySet<string> } {
  const slugger = new GithubSlugger();
  const targets: string[] = [];
  const ids = new Set<string>();
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === "link" || token.type === "image") targets.push(token.href);
      if (token.type === "heading") ids.add(slugger.slug(token.text.replace(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1")));
      if (token.type !== "html") return;
      for (const [, name, value = ""] of token.text.matchAll(/\s(id|href|src|srcset)="([^"]*)"/g)) {
        if (name === "id") ids.add(value);
        else targets.push(value);
      }
    },
  });
  marked.parse(markdown);
  return { targets, ids };
}
