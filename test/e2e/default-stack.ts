import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openProject } from "#sdk/cli/dev/project.ts";
import { type Stack, startStack } from "#sdk/cli/dev/stack.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { preparedDefault } from "../fixtures/prepared.ts";

/** Runs everything with the default model, as `bert-edge dev` does: local R2, the edge in workerd, the region in Node. */
export async function startDefaultStack(): Promise<Stack> {
  const artifact = await openFolder(await preparedDefault());
  const state = await mkdtemp(join(tmpdir(), "bert-edge-stack-"));
  const remove = () => rm(state, { recursive: true, force: true });
  try {
    const stack = await startStack({ project: openProject(process.cwd()), artifact, state });
    return { ...stack, stop: () => stack.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
