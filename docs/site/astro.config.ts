import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type SatteriProcessorOptions, satteri } from "@astrojs/markdown-satteri";
import starlight from "@astrojs/starlight";
import { defineConfig } from "astro/config";
import { documents, root } from "./documents.ts";
import { linkTo, repositoryUrl } from "./links.ts";
import { menu } from "./menu.ts";

const pages = documents();
const { repository } = JSON.parse(readFileSync(`${root}/sdk/package.json`, "utf8")) as { repository?: string };
const options = {
  root,
  ids: new Map(pages.map(({ path, id }) => [path, id])),
  repository: repositoryUrl(repository),
};

/** Makes a page of a document: without its heading, which Starlight writes, and with links that lead to other pages. */
const asPage: NonNullable<SatteriProcessorOptions["mdastPlugins"]>[number] = ({ fileURL }) => {
  const toSite = linkTo(options, relative(root, fileURLToPath(fileURL as URL)));
  return {
    name: "as-page",
    heading(node, context) {
      if (node.depth === 1) context.removeNode(node);
    },
    link(node, context) {
      const url = toSite(node.url);
      if (url === undefined) context.replaceNode(node, node.children);
      else context.setProperty(node, "url", url);
    },
    html(node, context) {
      const attribute = /(?<=\s(?:href|src|srcset)=")[^"]*/g;
      context.setProperty(
        node,
        "value",
        node.value.replace(attribute, (target) => toSite(target) ?? target),
      );
    },
  };
};

/** Lets keyboards scroll wide tables. */
const scrollable: NonNullable<SatteriProcessorOptions["hastPlugins"]>[number] = {
  name: "scrollable",
  element: { filter: ["table"], visit: (table, context) => context.setProperty(table, "tabIndex", 0) },
};

export default defineConfig({
  publicDir: "../../dist/docs-files",
  outDir: "../../dist/docs",
  build: { format: "file" },
  markdown: {
    processor: satteri({ mdastPlugins: [asPage], hastPlugins: [scrollable], features: { smartPunctuation: false } }),
  },
  integrations: [
    starlight({
      title: "bert-edge",
      favicon: "images/icon.svg",
      customCss: ["./src/tables.css"],
      expressiveCode: { defaultProps: { frame: "none" } },
      markdown: { processedDirs: ["../.."] },
      sidebar: [
        ...Object.entries(menu).map(([label, items]) => ({ label, items: [...items] })),
        {
          label: "Decisions",
          collapsed: true,
          items: pages.map(({ id }) => id).filter((id) => id.startsWith("decisions/")),
        },
      ],
    }),
  ],
});
