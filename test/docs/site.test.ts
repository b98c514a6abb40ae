import { expect, it } from "vitest";
import { apiReference } from "../../docs/site/api-reference.ts";
import { deadLinks } from "../../docs/site/dead-links.ts";
import { missingInMenu, renderedDocuments } from "../../docs/site/index.ts";
import { rendered } from "../../docs/site/markdown.ts";

const root = process.cwd();

it("the documentation has no dead links, neither to files nor to headings", () => {
  const pages = renderedDocuments();
  expect(pages.size).toBeGreaterThan(25);
  expect(deadLinks(root, pages)).toEqual([]);
});

it.each(["gone.md", "http.md#gone", "#gone", "images/gone.png"])("a link to %s is dead", (target) => {
  const pages = renderedDocuments();
  pages.set(
    "docs/new.md",
    rendered(`# New\n\n[x](${target}) [y](http.md#errors) [z](#new) [w](https://example.com)`, String),
  );
  expect(deadLinks(root, pages)).toEqual([`docs/new.md: ${target}`]);
});

it("the menu names every page", () => {
  expect(missingInMenu()).toEqual([]);
});

it("the API reference has what each entry exports, with its comments", () => {
  const reference = apiReference("sdk");
  const client = reference.slice(reference.indexOf("## bert-edge/client"), reference.indexOf("## bert-edge/ai-sdk"));
  expect(client).toMatch(/### BertEdge\n\nClient of a bert-edge deployment\.\n\n```ts\nexport class BertEdge /);
  expect(client).toContain("### EmbedOptions");
  expect(reference).toMatch(/## bert-edge\/serve\n[\s\S]*### createEdgeApp\n/);
  expect(reference).not.toMatch(/### \n/);
});
