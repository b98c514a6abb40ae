// Installs other projects' Python clients from PyPI into a virtual environment, and runs them against the edge, in workerd,
// and against the region.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../../commands/command-line.ts";
import { pythonWith } from "../../fixtures/python-with.ts";
import { runCommand } from "../../fixtures/run-command.ts";
import { DEFAULT_MODEL, onBothTiers } from "../served-models.ts";

commandLine("npm run e2e:python\nRuns Python clients, from PyPI, against edge and region.");

const packages = ["openai", "langchain-openai", "huggingface_hub", "numpy", "cohere"];

const folder = await mkdtemp(join(tmpdir(), "bert-edge-python-clients-"));
try {
  const python = await pythonWith(folder, packages);
  await onBothTiers(folder, (url, key) =>
    runCommand(folder, python, "-B", join(import.meta.dirname, "clients.py"), url, key, DEFAULT_MODEL),
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
