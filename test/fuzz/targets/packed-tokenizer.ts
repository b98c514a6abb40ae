import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { outcome } from "../outcome.ts";
import { soundTokenizers } from "../sound-tokenizers.ts";
import type { Target } from "../target.ts";

const TEXT = "To be, or not to be: [MASK] that's <mask> the question ñandú 日本 😀 \u200b";
const MAX_TOKENS = 64;

/** Packed tokenizers of all kinds. Those that are accepted encode a text, and must give ids of the vocabulary. */
export const packedTokenizer: Target = {
  runs: { long: 100_000, short: 300 },
  async start() {
    const sound = soundTokenizers();
    return (seed) => {
      const choice = new SeededChoice(seed);
      const { packed, vocabulary } = choice.of(sound);
      return outcome(() => {
        const { ids } = createPackedTokenizer(damagedBytes(packed, choice), vocabulary).encode(TEXT, MAX_TOKENS);
        const wrong = ids.find((id) => !(id >= 0 && id < vocabulary));
        if (wrong !== undefined || ids.length > MAX_TOKENS) throw new Error(`${ids.length} ids, one of them ${wrong}`);
      });
    };
  },
};
