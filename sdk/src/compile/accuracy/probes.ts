import type { Parity } from "../../artifact/manifest.ts";
import type { TextModel } from "../model/text-model.ts";
import { promptedProbes } from "./golden-texts.ts";
import { comparedAs, parity } from "./parity.ts";
import { longTexts, probeTexts } from "./probe-texts.ts";

/** Lengths of texts, in tokens, for sentence encoders. Errors that cancel out in a short text can add up in a long one. */
const LENGTHS = [16, 128, 256];

/** The texts on which a prepared model is compared. */
export interface Probes {
  readonly texts: readonly string[];
  /** Compares results of these texts. */
  compare(reference: readonly Float32Array[], results: readonly Float32Array[]): Parity;
}

type Comparable = Pick<TextModel, "task" | "maxTokens" | "encode"> & {
  readonly config: Pick<TextModel["config"], "vocabularySize">;
};

/**
 * Returns the texts on which a model is compared. For a sentence encoder, they include texts of each length in `LENGTHS` that the
 * model takes. Golden texts with a prompt come last.
 */
export function probesOf({ task, maxTokens, config, encode }: Comparable): Probes {
  const compared = comparedAs(task, config.vocabularySize);
  const lengths = task.task === "embed" ? LENGTHS.filter((tokens) => tokens <= maxTokens) : [];
  const cut = lengths.map((tokens) => longTexts.map((text) => beginningOf(text, tokens, encode)));
  return {
    texts: [...probeTexts, ...cut.flat(), ...promptedProbes(task)],
    compare(reference, results) {
      const whole = parity(reference.slice(0, probeTexts.length), results.slice(0, probeTexts.length), compared);
      if (lengths.length === 0) return whole;
      const at = lengths.map((tokens, i) => {
        const range = [
          probeTexts.length + i * longTexts.length,
          probeTexts.length + (i + 1) * longTexts.length,
        ] as const;
        const { meanCosine } = parity(reference.slice(...range), results.slice(...range), compared);
        return { tokens, meanCosine };
      });
      return { ...whole, lengths: at };
    },
  };
}

/** Returns the longest beginning of a text, in whole words, that has at most `tokens` tokens. It has at least one word. */
function beginningOf(text: string, tokens: number, encode: TextModel["encode"]): string {
  const words = text.split(" ");
  const lengthOf = (count: number) => encode([words.slice(0, count).join(" ")])[0]?.length ?? 0;
  let [fits, tooLong] = [1, words.length + 1];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (lengthOf(middle) <= tokens) fits = middle;
    else tooLong = middle;
  }
  return words.slice(0, fits).join(" ");
}
