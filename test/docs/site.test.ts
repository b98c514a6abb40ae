import { describe, expect, it } from "vitest";
import { apiReference } from "../../docs/site/api-reference.ts";
import { deadLinks } from "../../docs/site/dead-links.ts";
import { missingInMenu, renderedSite } from "../../docs/site/index.ts";
import { linkTo, repositoryUrl } from "../../docs/site/link-to.ts";
import { rendered } from "../../docs/site/markdown.ts";
import { named, siteFiles } from "../../docs/site/site-files.ts";

const root = process.cwd();

it("the site has no dead links, neither to files nor to headings", () => {
  const { pages, copies } = renderedSite();
  expect(pages.size).toBeGreaterThan(25);
  expect(deadLinks(pages, new Set(copies.keys()))).toEqual([]);
});

it.each([
  "[x](gone.md)",
  "[x](http.md#gone)",
  "[x](#gone)",
  "![x](images/gone.png)",
  '<img alt="x" src="images/gone.png">',
  'Text <a href="gone.md">x</a>',
  '<picture><source srcset="images/gone.png"></picture>',
])("a link to nothing is dead: %s", (link) => {
  const files = siteFiles(root);
  const toSite = linkTo({ root, files, repository: undefined }, "docs/new.md");
  const good = "[y](http.md#errors) [z](#new) [w](https://example.com) ![v](images/page-1440-dark.png)";
  const { html } = rendered(`# New\n\n${good}\n\n${link}`, toSite);
  const { pages, copies } = renderedSite();
  const [, target = ""] = /(?:\(|src=.|href=.|srcset=.)([^)"]+)/.exec(link) ?? [];
  expect(deadLinks(new Map([...pages, ["new.html", html]]), new Set(copies.keys()))).toEqual([
    `new.html: ${target.replace("http.md", "http.html")}`,
  ]);
});

describe("a link to a file that the site does not have", () => {
  const files = siteFiles(root);
  const source = "[`keys`](../test/attacks/keys.test.ts), [decisions](decisions)";

  it("is plain text as long as the repository's URL is not known", () => {
    const { html } = rendered(source, linkTo({ root, files, repository: undefined }, "docs/security.md"));
    expect(html).toBe("<p><code>keys</code>, decisions</p>\n");
  });

  it("goes to the repository, if its URL is known", () => {
    const repository = repositoryUrl({ url: "git+https://github.com/acme/bert-edge.git" });
    const { html } = rendered(source, linkTo({ root, files, repository }, "docs/security.md"));
    expect(html).toContain('<a href="https://github.com/acme/bert-edge/blob/HEAD/test/attacks/keys.test.ts">');
    expect(html).toContain('<a href="https://github.com/acme/bert-edge/blob/HEAD/docs/decisions">');
  });
});

it.each([
  ["github:acme/x", "https://github.com/acme/x"],
  ["acme/x", "https://github.com/acme/x"],
  ["https://example.com/acme/x", "https://example.com/acme/x"],
  [undefined, undefined],
])("the pages of the repository %s are at %s", (repository, url) => {
  expect(repositoryUrl(repository)).toBe(url);
});

it.each([
  [["docs/keys.md", "docs/decisions/keys.md"], "docs/keys.md and docs/decisions/keys.md would both be keys.html"],
  [["docs/api.md"], "the API reference and docs/api.md would both be api.html"],
])("two files of one name are refused: %j", (paths, message) => {
  expect(() => named(paths)).toThrow(message);
});

it("the menu names every page", () => {
  expect(missingInMenu()).toEqual([]);
});

it("the API reference has what each entry exports, with its comments", () => {
  const reference = apiReference("sdk");
  const client = reference.slice(reference.indexOf("## bert-edge/client"), reference.indexOf("## bert-edge/ai-sdk"));
  expect(client).toMatch(
    /### BertEdge\n\nClient of a bert-edge deployment[\s\S]*?```ts\nexport interface BertEdge [\s\S]*?export class BertEdge /,
  );
  expect(client).toContain("### EmbedOptions");
  expect(reference).toMatch(/## bert-edge\/serve\n[\s\S]*### createEdgeApp\n/);
  expect(reference).not.toMatch(/### \n/);
});
