import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const TOP_LEVEL = ["sdk", "create-bert-edge", "release", "functions", "infra", "models", "test", "bench", "docs"];

const files = globSync(["*.*", ...TOP_LEVEL.map((folder) => `${folder}/**/*.*`)], {
  cwd: root,
  exclude: [
    "docs/site/node_modules",
    "sdk/node_modules",
    "sdk/dist",
    "create-bert-edge/node_modules",
    "create-bert-edge/dist",
  ],
}).map((path) => `/${path}`);
const documents = globSync(["*.md", "docs/**/*.md", "sdk/*.md"], { cwd: root, exclude: ["docs/site/**"] });

it.each(documents.filter((path) => path !== "CHANGELOG.md"))("names only files and folders that exist: %s", (path) => {
  const text = readFileSync(join(root, path), "utf8");
  // Paths of files, and of folders with "/" at the end. Documents may leave out the first folders.
  const named = [...text.matchAll(/`([\w.-]+\/[\w./-]*?(?:\/|\.(?:ts|json|md|yml|toml|wasm)))`/g)].map(
    ([, path = ""]) => path,
  );
  const missing = named.filter(
    (name) => !files.some((file) => (name.endsWith("/") ? file.includes(`/${name}`) : file.endsWith(`/${name}`))),
  );
  expect(missing).toEqual([]);
});
