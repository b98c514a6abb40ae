import type { TokenIds, VectorHead } from "#sdk/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import type { Context, ModelName } from "./context.ts";
import { type Encoder, openAll, ours, type Rival } from "./encoders.ts";
import { type Measured, milliseconds } from "./measured.ts";
import { type Contender, ratio, type Samples, timeSideBySide } from "./side-by-side.ts";

const head: VectorHead = { pooling: "mean", normalize: true };

export interface Comparison {
  readonly model: ModelName;
  /** Tokens of each text; all texts are given at once. */
  readonly tokens: readonly number[];
  readonly rival: Rival;
  /** Whose time is divided by the other's. */
  readonly over: "ours" | "rival";
}

/** A batch of texts on our engine and on another in the form that it runs fastest. */
export const compareTexts =
  ({ model, tokens, rival, over }: Comparison) =>
  async (context: Context): Promise<Measured> => {
    const subject = await context.subject(model);
    const texts = tokens.map((length, i) => text(length, i, subject.model.config.vocabularySize));
    const [own] = (await openAll(ours, subject)) as [Encoder];
    const others = await openAll(rival, subject);
    try {
      const contender = ({ name, run }: Encoder): Contender => ({ name, run: () => run(texts, head) });
      const times = await timeSideBySide(contender(own), others.map(contender));
      const byTime = [...times.rivals].sort(([, a], [, b]) => median(a) - median(b));
      const [{ name }, fastest] = byTime[0] as [Contender, Samples];
      const vectors = await others.find((encoder) => encoder.name === name)?.run(texts, head);
      return {
        figure: over === "rival" ? ratio(fastest, times.ours) : ratio(times.ours, fastest),
        ours: milliseconds(median(times.ours)),
        other: `${milliseconds(median(fastest))} ${name}`,
        details: {
          rounds: fastest.length,
          ms: median(times.ours),
          others: Object.fromEntries(byTime.map(([{ name }, samples]) => [name, median(samples)])),
          leastCosine: leastCosine(await own.run(texts, head), vectors ?? []),
        },
      };
    } finally {
      for (const encoder of [own, ...others]) await encoder.release();
    }
  };

/** Ids spread over the vocabulary: what they mean does not matter to the time, that they differ does to caches. */
const text = (length: number, index: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => ((i + index) * 7919 + length) % vocabulary);

const leastCosine = (some: readonly Float32Array[], others: readonly Float32Array[]): number =>
  Math.min(...some.map((a, i) => a.reduce((sum, value, at) => sum + value * (others[i]?.[at] ?? 0), 0)));
