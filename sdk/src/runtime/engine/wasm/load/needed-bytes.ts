import type { TokenIds } from "../../engine.ts";
import { usesOf } from "../run/step-uses.ts";
import type { ModelFile } from "./model-file.ts";

/** Bytes of the file, from its first one on, that sequences need: of tables of words no rows beyond those of their ids. */
export function neededBytes({ program, tensor }: ModelFile): (sequences: readonly TokenIds[]) => number {
  const { steps, vocabulary } = program;
  const tables: { start: number; row: number }[] = [];
  let others = 0;
  for (const step of steps) {
    for (const [name, bytes] of usesOf(step, program)?.tensors ?? []) {
      if (step.op === "lookup" && name === step.table) tables.push({ start: tensor(name), row: bytes / vocabulary });
      else others = Math.max(others, tensor(name) + bytes);
    }
  }
  return (sequences) => {
    const rows = 1 + sequences.reduce((most, ids) => ids.reduce((a, b) => Math.max(a, b), most), -1);
    return Math.max(others, ...tables.map(({ start, row }) => start + rows * row));
  };
}
