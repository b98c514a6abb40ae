import { BertEdgeError } from "../../../artifact/error.ts";
import type { EngineSession } from "../../../runtime/engine/engine.ts";
import type { Model } from "../../../runtime/model.ts";
import { modelOf } from "../../../runtime/start-model.ts";
import { belowLimit, type ComparedLine, compareLines, type GoldenLimit } from "./compare-lines.ts";
import { otherReadings, type Reading } from "./other-readings.ts";
import type { GoldenLine } from "./read-golden.ts";

/** Maximum number of failed lines on which each reading is tried first. Only readings that fit these lines are tried on all lines. */
const TRIED_LINES = 4;

export interface ReadingSearch {
  readonly model: Pick<Model, "manifest" | "version" | "measurements" | "tokenizer">;
  readonly session: EngineSession;
  readonly limit: GoldenLimit;
  /** Maximum number of tokens that the model's weights allow. */
  readonly positions: number;
  readonly compared: readonly ComparedLine[];
}

/** Result of the search: one reading, or two together, that make all lines agree. */
export interface FoundReading {
  /** Empty if no reading fits. */
  readonly readings: readonly Reading[];
  /** Number of readings and pairs of readings that the search can try. */
  readonly tried: number;
}

/** Looks for a reading of the folder with which all lines agree: first one change, then two. */
export async function findReading({
  model,
  session,
  limit,
  positions,
  compared,
}: ReadingSearch): Promise<FoundReading> {
  const failed = belowLimit(compared, limit)
    .slice(0, TRIED_LINES)
    .map(({ line }) => line);
  const all = compared.map(({ line }) => line);
  const singles = otherReadings(model.manifest, positions);
  const candidates = [...singles.map((reading) => [reading]), ...pairsOf(singles)];
  for (const readings of candidates) {
    if ((await agree(readings, failed)) && (await agree(readings, all))) return { readings, tried: candidates.length };
  }
  return { readings: [], tried: candidates.length };

  async function agree(readings: readonly Reading[], lines: readonly GoldenLine[]): Promise<boolean> {
    const manifest = readings.reduce((each, reading) => reading.manifest?.(each) ?? each, model.manifest);
    const other = modelOf({ ...model, manifest, read: noFile }, model.tokenizer, session);
    const asking = Object.assign({}, ...readings.map((reading) => reading.asking ?? {}));
    for (const line of lines) {
      const asked = readings.reduce((each, reading) => reading.line?.(each) ?? each, line);
      const found = await compareLines(other, [asked], { asking }).catch(unsuitable);
      if (!found || belowLimit(found, limit).length > 0) return false;
    }
    return true;
  }
}

/** Returns undefined for a BertEdgeError, because a reading can be impossible for a line. Throws `aborted` and all other errors. */
function unsuitable(error: unknown): undefined {
  if (!(error instanceof BertEdgeError) || error.code === "aborted") throw error;
}

const noFile = () => Promise.reject(new Error("A reading has no files."));

/** Pairs of readings of different kinds. */
const pairsOf = (readings: readonly Reading[]): (readonly [Reading, Reading])[] =>
  readings.flatMap((first, i) =>
    readings.slice(i + 1).flatMap((second) => (second.kind === first.kind ? [] : [[first, second] as const])),
  );
