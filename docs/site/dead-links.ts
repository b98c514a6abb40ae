import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { RenderedPage } from "./markdown.ts";

/**
 * Finds links to files and headings that do not exist. Links to other sites are not followed.
 *
 * @param root folder of the repository
 * @param pages rendered pages, by path relative to `root`
 * @returns `page: target` for each dead link
 */
export function deadLinks(root: string, pages: ReadonlyMap<string, RenderedPage>): string[] {
  return [...pages].flatMap(([path, { targets }]) =>
    targets.filter((target) => isDead(root, path, target, pages)).map((target) => `${path}: ${target}`),
  );
}

function isDead(root: string, path: string, target: string, pages: ReadonlyMap<string, RenderedPage>): boolean {
  if (/^[a-z]+:/.test(target)) return false;
  const [file = "", anchor] = target.split("#");
  const found = file === "" ? path : relative(root, join(root, dirname(path), decodeURIComponent(file)));
  const page = pages.get(found);
  if (!page) return !existsSync(join(root, found));
  return anchor !== undefined && !page.anchors.has(anchor);
}
