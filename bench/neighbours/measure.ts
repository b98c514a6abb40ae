import { parity } from "#sdk/compile/accuracy/parity.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import type { Answer, EncoderProcess } from "./encoder-process.ts";
import { keptShares, nearestTexts } from "./nearest.ts";
import type { Score } from "./results.ts";
import type { Truth } from "./truth.ts";

export interface MeasureOptions {
  /** Number of neighbours of a text. */
  readonly neighbours: number;
  /** Number of parts of the texts. In each round, every form embeds the same part. */
  readonly rounds: number;
  /** Called at the beginning of each round; with 0 before the untimed one. */
  readonly onRound: (round: number) => void;
}

/** Half of a 95 % interval, in standard errors. */
const WIDTH_95 = 1.96;

/**
 * Embeds the texts with all forms, and scores their vectors. The forms take turns after each part of the texts, and each round begins
 * with another form. Before, every form embeds the first part untimed, because the first calls compile and allocate. A form that
 * fails has its error instead of a score.
 */
export async function measure<Name>(
  encoders: ReadonlyMap<Name, EncoderProcess>,
  truth: Truth,
  { neighbours, rounds, onRound }: MeasureOptions,
): Promise<Map<Name, Measured<Name> | Error>> {
  const errors = new Map<Name, Error>();
  const found = new Map(
    [...encoders.keys()].map((name) => [name, { vectors: [] as Float32Array[], rates: [] as number[] }]),
  );
  const embed = async (name: Name, part: readonly TokenIds[]): Promise<Answer | undefined> => {
    try {
      return await encoders.get(name)?.embed(part);
    } catch (error) {
      errors.set(name, error as Error);
      found.delete(name);
      return undefined;
    }
  };
  const parts = partsOf(truth.ids, rounds);
  onRound(0);
  for (const name of [...found.keys()]) await embed(name, parts[0] ?? []);
  for (const [round, part] of parts.entries()) {
    onRound(round + 1);
    const names = [...found.keys()];
    const first = round % Math.max(1, names.length);
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const answer = await embed(name, part);
      if (!answer) continue;
      found.get(name)?.vectors.push(...answer.vectors);
      found.get(name)?.rates.push(part.length / answer.seconds);
    }
  }
  const expected = nearestTexts(truth.vectors, neighbours);
  const shares = new Map(
    [...found].map(([name, { vectors }]) => [name, keptShares(expected, nearestTexts(vectors, neighbours))]),
  );
  const scores = [...found].map(([name, { vectors, rates }]) => {
    const own = shares.get(name) ?? [];
    const { mean: kept, margin } = meanOf(own);
    const tied = [...shares].flatMap(([other, theirs]) => (other !== name && isTied(own, theirs) ? [other] : []));
    const { meanCosine } = parity(truth.vectors, vectors);
    return [name, { kept, margin, tied, meanCosine, textsPerSecond: median(rates) }] as const;
  });
  return new Map<Name, Measured<Name> | Error>([...errors, ...scores]);
}

/** A score, and the forms whose share of kept neighbours is not different with a certainty of 95 %. */
export interface Measured<Name> extends Omit<Score, "tied"> {
  readonly tied: readonly Name[];
}

/** Splits texts into parts of nearly equal size. */
function partsOf(texts: readonly TokenIds[], most: number): TokenIds[][] {
  const count = Math.min(most, texts.length);
  const start = (part: number) => Math.floor((part * texts.length) / count);
  return Array.from({ length: count }, (_, part) => texts.slice(start(part), start(part + 1)));
}

/** Compares two forms text by text: both have embedded the same texts, so their shares depend on each other. */
function isTied(own: readonly number[], theirs: readonly number[]): boolean {
  const { mean, margin } = meanOf(own.map((share, text) => share - (theirs[text] ?? 0)));
  return Math.abs(mean) <= margin;
}

/** Returns the mean of some numbers, and half of its 95 % interval. */
function meanOf(numbers: readonly number[]): { mean: number; margin: number } {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const variance = numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (numbers.length - 1);
  return { mean, margin: WIDTH_95 * Math.sqrt(variance / numbers.length) };
}
