import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeBaseCheckpoint } from "./base-checkpoint.ts";
import { openSubject, type Subject } from "./subject.ts";

export type ModelName = "given" | "base";

/** Models and a temporary folder that all rows share. */
export interface Context {
  readonly folder: string;
  /** Opens the checkpoint from the command line, or a BERT-base with random weights. */
  subject(name: ModelName): Promise<Subject>;
  close(): Promise<void>;
}

export async function openContext(checkpoint: string): Promise<Context> {
  const folder = await mkdtemp(join(tmpdir(), "bert-edge-bench-"));
  const subjects = new Map<ModelName, Promise<Subject>>();
  const open: Record<ModelName, () => Promise<Subject>> = {
    given: () => openSubject(checkpoint),
    async base() {
      const path = join(folder, "base");
      await mkdir(path);
      await writeBaseCheckpoint(path);
      return openSubject(path);
    },
  };
  return {
    folder,
    subject(name) {
      const opened = subjects.get(name) ?? open[name]();
      subjects.set(name, opened);
      return opened;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
