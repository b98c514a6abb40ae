import type { TokenIds, VectorHead } from "../../sdk/src/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import type { Context, ModelName } from "./context.ts";
import { type Encoder, openAll, ours, type Rival } from "./encoders.ts";
import { type Measured, milliseconds } from "./measured.ts";
import { type Contender, ratio, timeSideBySide, warmUp } from "./side-by-side.ts";

const head: VectorHead = { pooling: "mean", normalize: true };

/** Forms that take longer than the fastest by so much are not in the rounds. */
const HOPELESS = 1.5;

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
    const texts = tokens.map((length, i) => text(length, i, subject.model.config.vocab_size));
    const [own] = (await openAll(ours, subject)) as [Encoder];
    const rivals = await openAll(rival, subject);
    try {
      const contender = ({ name, run }: Encoder): Contender => ({ name, run: () => run(texts, head) });
      const warm: { encoder: Encoder; ms: number }[] = [];
      for (const encoder of rivals) warm.push({ encoder, ms: await warmUp(contender(encoder)) });
      const least = Math.min(...warm.map(({ ms }) => ms));
      const promising = warm.filter(({ ms }) => ms < HOPELESS * least).map(({ encoder }) => encoder);
      const [mine = [], ...theirs] = await timeSideBySide([own, ...promising].map(contender));
      const medians = theirs.map(median);
      const best = medians.indexOf(Math.min(...medians));
      const [encoder, samples = []] = [promising[best] as Encoder, theirs[best]];
      return {
        figure: over === "rival" ? ratio(samples, mine) : ratio(mine, samples),
        ours: milliseconds(median(mine)),
        other: `${milliseconds(medians[best] as number)} ${encoder.name}`,
        details: {
          cosine: leastCosine(await own.run(texts, head), await encoder.run(texts, head)),
          ms: Object.fromEntries([
            ["ours", median(mine)],
            ...warm.map(({ encoder: { name }, ms }) => [name, ms]),
            ...promising.map(({ name }, i) => [name, medians[i]]),
          ]),
        },
      };
    } finally {
      for (const encoder of [own, ...rivals]) await encoder.release();
    }
  };

/** Ids spread over the vocabulary: what they mean does not matter to the time, that they differ does to caches. */
const text = (length: number, index: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => ((i + index) * 7919 + length) % vocabulary);

const leastCosine = (some: readonly Float32Array[], others: readonly Float32Array[]): number =>
  Math.min(...some.map((a, i) => a.reduce((sum, value, at) => sum + value * (others[i]?.[at] ?? 0), 0)));
