import { writeRandomBert } from "../random-checkpoint.ts";
import { openSubject, type Subject } from "./subject.ts";

export type ModelName = "given" | "base";

/** Size of BERT-base. Its 110 M parameters include the embeddings of BERT's 30,522 tokens. */
const BASE = { layers: 12, width: 768 };

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
    base: async () => openSubject(short ? checkpoint : await writeRandomBert(folder, BASE, "base")),
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
