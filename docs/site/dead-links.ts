/**
 * Finds links of written pages to files and headings that the site does not have. Links to other sites are not followed.
 *
 * @param pages HTML of each page, by its name
 * @param others names of the site's other files
 * @returns `page: target` for each dead link
 */
export function deadLinks(pages: ReadonlyMap<string, string>, others: ReadonlySet<string>): string[] {
  const anchors = new Map([...pages].map(([name, html]) => [name, idsOf(html)]));
  const isDead = (page: string, target: string): boolean => {
    if (/^[a-z]+:/i.test(target)) return false;
    const [file = "", anchor] = target.split("#");
    const name = decodeURIComponent(file) || page;
    const ids = anchors.get(name);
    if (ids === undefined) return !others.has(name);
    return anchor !== undefined && !ids.has(decodeURIComponent(anchor));
  };
  return [...pages].flatMap(([page, html]) =>
    targetsOf(html)
      .filter((target) => isDead(page, target))
      .map((target) => `${page}: ${target}`),
  );
}

const idsOf = (html: string): ReadonlySet<string> =>
  new Set([...html.matchAll(/<[^>]+\bid="([^"]+)"/g)].map(([, id = ""]) => id));

/** Returns the targets of all tags: links, images and sources of images. Code has no tags, because it is escaped. */
const targetsOf = (html: string): string[] =>
  [...html.matchAll(/<[a-z][^>]*>/gi)].flatMap(([tag]) =>
    [...tag.matchAll(/\s(?:href|src|srcset)="([^"]*)"/g)].map(([, target = ""]) => target.replaceAll("&amp;", "&")),
  );
