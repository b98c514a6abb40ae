import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Folder that test files share. It is removed after the run. */
    runFolder: string;
  }
}

/** Makes the shared folder before the first test file starts, and removes it after the last. */
export default async function runFolder(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-run-"));
  project.provide("runFolder", folder);
  return () => rm(folder, { recursive: true, force: true });
}
