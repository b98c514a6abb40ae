import { parity } from "#sdk/compile/accuracy/parity.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import type { EncoderProcess } from "./encoder-process.ts";
import { keptShares, nearestTexts } from "./nearest.ts";
import type { Score } from "./results.ts";
import type { Truth } from "./truth.ts";

export interface MeasureOptions {
  /** Number of neighbours of a text. */
  readonly neighbours: number;
  /** Number of parts of the texts. In each round, every form embeds the same part. */
  readonly rounds: number;
  readonly onRound: (round: number) => void;
}

/** Half of a 95 % interval, in standard errors. */
const WIDTH_95 = 1.96;

/**
 * Embeds the texts with all forms, which take turns after each part of the texts, and scores their vectors. A form that fails
 * has its error instead of a score.
 */
export async function measure<Name>(
  encoders: ReadonlyMap<Name, EncoderProcess>,
  truth: Truth,
  { neighbours, rounds, onRound }: MeasureOptions,
): Promise<Map<Name, Score | Error>> {
  const errors = new Map<Name, Error>();
  const found = new Map(
    [...encoders.keys()].map((name) => [name, { vectors: [] as Float32Array[], rates: [] as number[] }]),
  );
  for (const [round, part] of partsOf(truth.ids, rounds).entries()) {
    onRound(round + 1);
    for (const [name, { vectors, rates }] of found) {
      const answer = await encoders
        .get(name)
        ?.embed(part)
        .catch((error: Error) => error);
      if (answer === undefined || answer instanceof Error) {
        errors.set(name, answer ?? new Error("There is no such form."));
        found.delete(name);
        continue;
      }
      vectors.push(...answer.vectors);
      rates.push(part.length / answer.seconds);
    }
  }
  const expected = nearestTexts(truth.vectors, neighbours);
  const scores = [...found].map(([name, { vectors, rates }]) => {
    const shares = keptShares(expected, nearestTexts(vectors, neighbours));
    const { meanCosine } = parity(truth.vectors, vectors);
    return [name, { ...meanOf(shares), meanCosine, textsPerSecond: median(rates) }] as const;
  });
  return new Map<Name, Score | Error>([...errors, ...scores]);
}

/** Splits texts into parts of nearly equal size. */
function partsOf(texts: readonly TokenIds[], count: number): TokenIds[][] {
  const size = Math.ceil(texts.length / count);
  return Array.from({ length: Math.ceil(texts.length / size) }, (_, part) =>
    texts.slice(part * size, (part + 1) * size),
  );
}

function meanOf(shares: readonly number[]): Pick<Score, "kept" | "margin"> {
  const kept = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const variance = shares.reduce((sum, share) => sum + (share - kept) ** 2, 0) / (shares.length - 1);
  return { kept, margin: WIDTH_95 * Math.sqrt(variance / shares.length) };
}
