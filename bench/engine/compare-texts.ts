import type { TokenIds, VectorHead } from "#sdk/runtime/engine/engine.ts";
import { median } from "../run-tool.ts";
import type { Context, ModelName } from "./context.ts";
import { type Encoder, float32, openAll, ours, type Rival } from "./encoders.ts";
import { type Measured, milliseconds } from "./measured.ts";
import { type Contender, ratio, type Samples, timeSideBySide } from "./side-by-side.ts";
import type { Form } from "./subject.ts";

const head: VectorHead = { pooling: "mean", normalize: true };

export interface Comparison {
  readonly model: ModelName;
  /** Number of tokens of each text. All texts are computed in one call. */
  readonly tokens: readonly number[];
  /** Form of the model in our engine. Default: `wasm, all positions`. */
  readonly form?: Form;
  readonly rival: Rival;
  /** The engine whose time is the numerator of the ratio. */
  readonly over: "ours" | "rival";
}

/**
 * Compares our engine with another engine, or with another form of the model, on one batch of texts. The other engine runs all of its
 * forms of the model, and the fastest form counts.
 */
export const compareTexts =
  ({ model, tokens, form = "wasm, all positions", rival, over }: Comparison) =>
  async (context: Context): Promise<Measured> => {
    const subject = await context.subject(model);
    const texts = tokens.map((length, i) => text(length, i, subject.model.config.vocabularySize));
    const [own] = (await openAll(ours(form), subject)) as [Encoder];
    const [exact] = (await openAll(float32, subject)) as [Encoder];
    const others = await openAll(rival, subject);
    try {
      const agreement = minCosine(await exact.run(texts, head), await own.run(texts, head));
      const contender = ({ name, run }: Encoder): Contender => ({ name, run: () => run(texts, head) });
      const times = await timeSideBySide(contender(own), others.map(contender), context.short ? "short" : "usual");
      const byTime = [...times.rivals].sort(([, a], [, b]) => median(a) - median(b));
      const [{ name }, fastest] = byTime[0] as [Contender, Samples];
      const vectors = await others.find((encoder) => encoder.name === name)?.run(texts, head);
      return {
        figure: over === "rival" ? ratio(fastest, times.ours) : ratio(times.ours, fastest),
        ours: milliseconds(median(times.ours)),
        agreement,
        other: `${milliseconds(median(fastest))} ${name}`,
        details: {
          rounds: fastest.length,
          ms: median(times.ours),
          others: Object.fromEntries(byTime.map(([{ name }, samples]) => [name, median(samples)])),
          minCosine: minCosine(await own.run(texts, head), vectors ?? []),
        },
      };
    } finally {
      for (const encoder of [own, exact, ...others]) await encoder.release();
    }
  };

/**
 * Makes token ids that are spread over the vocabulary. If ids were repeated, their embeddings would stay in the caches,
 * and the measured times would be too short.
 */
const text = (length: number, index: number, vocabulary: number): TokenIds =>
  Int32Array.from({ length }, (_, i) => ((i + index) * 7919 + length) % vocabulary);

const minCosine = (some: readonly Float32Array[], others: readonly Float32Array[]): number =>
  Math.min(...some.map((a, i) => a.reduce((sum, value, at) => sum + value * (others[i]?.[at] ?? 0), 0)));
