import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export interface LinkOptions {
  /** Folder of the repository. */
  readonly root: string;
  /** Path in the repository → name in the site. */
  readonly files: ReadonlyMap<string, string>;
  /** URL of the repository's web pages; undefined if it is not known. */
  readonly repository: string | undefined;
}

/**
 * Makes the function that rewrites the links of a document for the site. It returns undefined for a link to a file that the
 * site does not have, if the repository's URL is not known either. A link to nothing stays, so that it is found as a dead one.
 *
 * @param path the document, relative to the repository's root
 */
export const linkTo =
  ({ root, files, repository }: LinkOptions, path: string) =>
  (target: string): string | undefined => {
    if (/^[a-z]+:|^#/i.test(target)) return target;
    const [file = "", anchor] = target.split("#");
    const source = join(dirname(path), decodeURIComponent(file)).replace(/\/$/, "");
    const suffix = anchor === undefined ? "" : `#${anchor}`;
    // The menu of the first page lists what is in docs/.
    const name = source === "docs" ? "index.html" : files.get(source);
    if (name !== undefined) return name + suffix;
    if (!existsSync(join(root, source))) return target;
    return repository && `${repository}/blob/HEAD/${source}${suffix}`;
  };

/** Returns the URL of a repository's web pages from `repository` of a package.json. */
export function repositoryUrl(repository: string | { readonly url?: string } | undefined): string | undefined {
  const url = typeof repository === "string" ? repository : repository?.url;
  return url
    ?.replace(/^git\+/, "")
    .replace(/\.git$/, "")
    .replace(/^(?:github:|(?=[\w-]+\/[\w.-]+$))/, "https://github.com/");
}
