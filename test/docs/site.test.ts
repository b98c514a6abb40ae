import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { apiReference } from "../../docs/site/api-reference.ts";
import { deadLinks } from "../../docs/site/dead-links.ts";
import { documents, root } from "../../docs/site/documents.ts";
import { linkTo, repositoryUrl } from "../../docs/site/links.ts";
import { menu } from "../../docs/site/menu.ts";

const pages = documents();
const exists = (path: string) => existsSync(join(root, path));
const ids = new Map(pages.map(({ path, id }) => [path, id]));

it("the documents have no dead links, neither to files nor to headings", () => {
  expect(pages.length).toBeGreaterThan(45);
  expect(deadLinks(pages, exists)).toEqual([]);
});

it.each([
  "[x](gone.md)",
  "[x](http.md#gone)",
  "[x](../README.md#gone)",
  "[x](#gone)",
  "[x](../gone/)",
  "![x](images/gone.png)",
  '<img alt="x" src="images/gone.png">',
  'Text <a href="gone.md">x</a>',
  '<picture><source srcset="images/gone.png"></picture>',
])("a link to nothing is dead: %s", (link) => {
  const good =
    "[y](http.md#errors) [z](#new) [w](https://example.com) ![v](images/page-1440-dark.png) [u](limits.md#tokenizers)";
  const document = { path: "docs/new.md", id: "new", title: "New", markdown: `# New\n\n${good}\n\n${link}` };
  const [, target = ""] = /(?:\(|src=.|href=.|srcset=.)([^)"]+)/.exec(link) ?? [];
  expect(deadLinks([...pages, document], exists)).toEqual([`docs/new.md: ${target}`]);
});

describe("a link", () => {
  const fromPage = linkTo({ root, ids, repository: undefined }, "docs/security.md");

  it.each([
    ["docs/security.md", "http.md#errors", "http.html#errors"],
    ["docs/security.md", "../README.md", "index.html"],
    ["docs/security.md", "../ARCHITECTURE.md#terms", "architecture.html#terms"],
    ["docs/security.md", "images/page-1440-dark.png", "images/page-1440-dark.png"],
    ["docs/security.md", "#pickles", "#pickles"],
    ["docs/security.md", "https://example.com/a.md", "https://example.com/a.md"],
    ["docs/decisions/0003-no-keys-no-answers.md", "../http.md#errors", "../http.html#errors"],
    ["docs/decisions/0003-no-keys-no-answers.md", "../routing.svg", "../routing.svg"],
    ["README.md", "docs/http.md#errors", "http.html#errors"],
    ["README.md", "docs", "index.html"],
    ["ARCHITECTURE.md", "docs/decisions/0003-no-keys-no-answers.md", "decisions/0003-no-keys-no-answers.html"],
  ])("of %s to %s is relative in the site", (path, target, expected) => {
    expect(linkTo({ root, ids, repository: undefined }, path)(target)).toBe(expected);
  });

  it("to a file that the site does not have is left out as long as the repository's URL is not known", () => {
    expect(fromPage("../test/attacks/keys.test.ts")).toBeUndefined();
    expect(fromPage("decisions")).toBeUndefined();
  });

  it("to a file that the site does not have goes to the repository, if its URL is known", () => {
    const repository = repositoryUrl({ url: "git+https://github.com/acme/bert-edge.git" });
    const toSite = linkTo({ root, ids, repository }, "docs/security.md");
    expect(toSite("../test/attacks/keys.test.ts#L1")).toBe(
      "https://github.com/acme/bert-edge/blob/HEAD/test/attacks/keys.test.ts#L1",
    );
    expect(toSite("decisions")).toBe("https://github.com/acme/bert-edge/blob/HEAD/docs/decisions");
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

it("the menu names every page once, and no other", () => {
  const named = Object.values(menu).flat();
  const expected = pages.map(({ id }) => id).filter((id) => !id.startsWith("decisions/"));
  expect(named.toSorted()).toEqual(expected.toSorted());
  expect(expected.length).toBeGreaterThan(globSync("docs/*.md", { cwd: root }).length);
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
