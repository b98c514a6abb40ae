// Installs other projects' clients from the npm registry into an empty folder, and runs them with their default settings
// against the edge, in workerd, and against the region.
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../fixtures/run-command.ts";
import { DEFAULT_MODEL, onBothTiers } from "./served-models.ts";

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
  ...["@huggingface/inference", "cohere-ai"],
];

/** The package's own adapters for these clients. */
const ADAPTERS = new URL("../../sdk/dist/client/adapters/", import.meta.url).href;

const folder = await mkdtemp(join(tmpdir(), "bert-edge-clients-"));
try {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await runCommand(folder, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages);
  for (const script of ["clients.js", "dialects.js"])
    await copyFile(join(import.meta.dirname, script), join(folder, script));
  await onBothTiers(folder, async (url, key) => {
    await runCommand(folder, process.execPath, "clients.js", `${url}/v1`, key, DEFAULT_MODEL, ADAPTERS);
    await runCommand(folder, process.execPath, "dialects.js", url, key, DEFAULT_MODEL);
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}
