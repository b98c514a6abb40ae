// Installs other projects' clients from the npm registry into an empty folder, and runs them with their default settings
// against the edge, in workerd, and against the region.
import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../commands/command-line.ts";
import { fencesOf } from "../docs/fences.ts";
import { runCommand } from "../fixtures/run-command.ts";
import { CUTTING_KEY } from "../fixtures/served-tiers.ts";
import { DEFAULT_MODEL, onBothTiers } from "./served-models.ts";

commandLine(
  "npm run e2e:clients\nRuns the packages of OpenAI, Vercel, LangChain and others, from the npm registry, against edge and region.",
);

const packages = [
  ...[4, 5, 6, 7].map((major) => `openai${major}@npm:openai@${major}`),
  ...["openai", "ai", "@ai-sdk/openai", "@ai-sdk/openai-compatible", "@ai-sdk/cohere", "jina-ai-provider", "zod"],
  ...["core", "openai", "classic", "community", "cohere"].map((name) => `@langchain/${name}`),
  ...["llamaindex", ...["openai", "jinaai", "core", "env"].map((name) => `@llamaindex/${name}`)],
  ...["@huggingface/inference", "cohere-ai", "@electric-sql/pglite", "@electric-sql/pglite-pgvector"],
];
/** Scripts, apart from that of pgvector. */
const scripts = ["openai.js", "cohere.js", "hugging-face.js", "jina.js", "frameworks.js", "gateways.js"];

const pgvector = fencesOf("docs/recipes.md").filter(({ code }) => /embedding vector\(|from documents/.test(code));

/** The package's own adapters for these clients. */
const ADAPTERS = new URL("../../sdk/dist/client/adapters/", import.meta.url).href;

const folder = await mkdtemp(join(tmpdir(), "bert-edge-clients-"));
try {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  // Packages of LangChain and LlamaIndex ask for peers of versions that exclude each other, and none needs a script.
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", "--legacy-peer-deps", "--ignore-scripts"];
  await runCommand(folder, "npm", "install", ...flags, ...packages);
  await symlink(join(import.meta.dirname, "../../sdk"), join(folder, "node_modules/bert-edge"));
  for (const script of ["check.js", "clients.js", "pgvector.js", ...scripts])
    await copyFile(join(import.meta.dirname, script), join(folder, script));
  await onBothTiers(folder, async (url, key) => {
    await runCommand(folder, process.execPath, "clients.js", `${url}/v1`, key, DEFAULT_MODEL, ADAPTERS);
    for (const script of scripts) await runCommand(folder, process.execPath, script, url, key, CUTTING_KEY);
    for (const { language, code } of pgvector) {
      await writeFile(
        join(folder, `recipe.${language}`),
        code.replace("http://127.0.0.1:8787", url).replace("<key>", key),
      );
    }
    await runCommand(folder, process.execPath, "pgvector.js", url, key);
  });
  const askAlone = (url: string, key: string) =>
    runCommand(folder, process.execPath, "gateways.js", url, key, CUTTING_KEY, "alone");
  await onBothTiers(join(folder, "alone"), askAlone, [DEFAULT_MODEL]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
