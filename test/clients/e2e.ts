// Installs other projects' clients from the npm registry into an empty folder, and runs them with their default settings
// against the edge, in workerd, and against the region.
import { copyFile, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../commands/command-line.ts";
import { fencesOf } from "../docs/fences.ts";
import { runCommand } from "../fixtures/run-command.ts";
import { DEFAULT_MODEL, onBothTiers } from "./served-models.ts";

commandLine(
  "npm run e2e:clients\nRuns the packages of OpenAI, Vercel, LangChain and others, from the npm registry, against edge and region.",
);

const packages = [
  ...[
    "openai",
    "ai",
    "@ai-sdk/openai",
    "@langchain/openai",
    "@langchain/core",
    "@langchain/classic",
    "@llamaindex/openai",
  ],
  ...["@huggingface/inference", "cohere-ai", "@electric-sql/pglite", "@electric-sql/pglite-pgvector"],
];

const pgvector = fencesOf("docs/recipes.md").filter(({ code }) => /embedding vector\(|from documents/.test(code));

/** The package's own adapters for these clients. */
const ADAPTERS = new URL("../../sdk/dist/client/adapters/", import.meta.url).href;

const folder = await mkdtemp(join(tmpdir(), "bert-edge-clients-"));
try {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await runCommand(folder, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages);
  await symlink(join(import.meta.dirname, "../../sdk"), join(folder, "node_modules/bert-edge"));
  for (const script of ["clients.js", "dialects.js", "pgvector.js"])
    await copyFile(join(import.meta.dirname, script), join(folder, script));
  await onBothTiers(folder, async (url, key) => {
    await runCommand(folder, process.execPath, "clients.js", `${url}/v1`, key, DEFAULT_MODEL, ADAPTERS);
    await runCommand(folder, process.execPath, "dialects.js", url, key, DEFAULT_MODEL);
    for (const { language, code } of pgvector) {
      await writeFile(
        join(folder, `recipe.${language}`),
        code.replace("http://127.0.0.1:8787", url).replace("<key>", key),
      );
    }
    await runCommand(folder, process.execPath, "pgvector.js", url, key);
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
