import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measurements } from "#sdk/artifact/measurements.ts";
import { openProject } from "#sdk/cli/dev/project.ts";
import { type Stack, startStack } from "#sdk/cli/dev/stack.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { preparedDefault } from "../fixtures/prepared.ts";

/**
 * Runs everything with the default model, as `bert-edge dev` does: local R2, the edge in workerd, the region in Node.
 *
 * @param measurements default: the measured ones
 */
export async function startDefaultStack(measurements?: Measurements): Promise<Stack> {
  const opened = await openFolder(await preparedDefault());
  const artifact = { ...opened, measurements: measurements ?? opened.measurements };
  const state = await mkdtemp(join(tmpdir(), "bert-edge-stack-"));
  const remove = () => rm(state, { recursive: true, force: true });
  try {
    const stack = await startStack({ project: openProject(process.cwd()), artifacts: [artifact], state });
    return { ...stack, stop: () => stack.stop().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
