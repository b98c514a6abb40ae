import { existsSync } from "node:fs";
import { posix } from "node:path";

export interface LinkOptions {
  /** Folder of the repository. */
  readonly root: string;
  /** Path of a document in the repository → its id. */
  readonly ids: ReadonlyMap<string, string>;
  /** URL of the repository's web pages; undefined if it is not known. */
  readonly repository: string | undefined;
}

/**
 * Makes the function that rewrites the links of a document for the site. They stay relative. It returns undefined for a link to a
 * file that the site does not have, if the repository's URL is not known either.
 *
 * @param path the document, relative to the repository's root
 */
export const linkTo =
  ({ root, ids, repository }: LinkOptions, path: string) =>
  (target: string): string | undefined => {
    if (/^[a-z]+:|^#/i.test(target)) return target;
    const [file = "", anchor] = target.split("#");
    const source = posix.join(posix.dirname(path), decodeURIComponent(file)).replace(/\/$/, "");
    const suffix = anchor === undefined ? "" : `#${anchor}`;
    const name = nameOf(source, ids);
    if (name !== undefined) return posix.relative(posix.dirname(ids.get(path) ?? ""), name) + suffix;
    if (!existsSync(posix.join(root, source))) return target;
    return repository && `${repository}/blob/HEAD/${source}${suffix}`;
  };

/** Returns the path in the site of a file of the repository. The site has all files of `docs/`, and shows its documents as pages. */
function nameOf(source: string, ids: ReadonlyMap<string, string>): string | undefined {
  const id = source === "docs" ? "index" : ids.get(source);
  if (id !== undefined) return `${id}.html`;
  return /^docs\/.+\.\w+$/.test(source) ? source.slice("docs/".length) : undefined;
}

/** Returns the URL of a repository's web pages from `repository` of a package.json. */
export function repositoryUrl(repository: string | { readonly url?: string } | undefined): string | undefined {
  const url = typeof repository === "string" ? repository : repository?.url;
  return url
    ?.replace(/^git\+/, "")
    .replace(/\.git$/, "")
    .replace(/^(?:github:|(?=[\w-]+\/[\w.-]+$))/, "https://github.com/");
}
