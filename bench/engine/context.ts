import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeBaseCheckpoint } from "./base-checkpoint.ts";
import { openSubject, type Subject } from "./subject.ts";

export type ModelName = "given" | "base";

interface Settings {
  /** Temporary folder. */
  readonly folder: string;
  /** Measure with the fewest repetitions, and the given model in place of BERT-base. */
  readonly short: boolean;
}

/** Models and settings that all rows share. */
export interface Context extends Settings {
  /** Opens the checkpoint from the command line, or a BERT-base with random weights. */
  subject(name: ModelName): Promise<Subject>;
}

export function openContext(checkpoint: string, { folder, short }: Settings): Context {
  const subjects = new Map<ModelName, Promise<Subject>>();
  const open: Record<ModelName, () => Promise<Subject>> = {
    given: () => openSubject(checkpoint),
    async base() {
      if (short) return openSubject(checkpoint);
      const path = join(folder, "base");
      await mkdir(path);
      await writeBaseCheckpoint(path);
      return openSubject(path);
    },
  };
  return {
    folder,
    short,
    subject(name) {
      const opened = subjects.get(name) ?? open[name]();
      subjects.set(name, opened);
      return opened;
    },
  };
}
