import { defineCollection } from "astro:content";
import { pathToFileURL } from "node:url";
import { docsSchema } from "@astrojs/starlight/schema";
import { documents, root } from "../documents.ts";

/** The documents where they are, because on GitHub they have no front matter. */
export const collections = {
  docs: defineCollection({
    schema: docsSchema(),
    loader: {
      name: "repository",
      async load({ store, parseData, renderMarkdown }) {
        store.clear();
        for (const { path, id, title, markdown } of documents()) {
          const data = await parseData({ id, data: { title } });
          const rendered = await renderMarkdown(markdown, { fileURL: pathToFileURL(`${root}/${path}`) });
          const images = rendered.metadata?.imagePaths ?? [];
          store.set({ id, data, body: markdown, filePath: `../../${path}`, rendered, assetImports: images });
        }
      },
    },
  }),
};
