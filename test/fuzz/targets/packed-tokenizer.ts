import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { callTokenizer } from "../call-tokenizer.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { outcome } from "../outcome.ts";
import { soundTokenizers } from "../sound-tokenizers.ts";
import type { Target } from "../target.ts";

/** One file in this number is sound. Most damage is refused, and then no text is encoded. */
const SOUND_SHARE = 4;

/** Packed tokenizers of all kinds. Those that are accepted encode short and long texts, and must give ids of the vocabulary. */
export const packedTokenizer: Target = {
  runs: { long: 100_000, short: 400 },
  // A damaged file can lose its template for pairs, or have one that leaves no room for a text.
  refusals: ["tokenizer_invalid", "pairs_unsupported", "input_too_long"],
  async start() {
    const sound = soundTokenizers();
    return (seed) => {
      const choice = new SeededChoice(seed);
      const { packed, vocabulary } = choice.of(sound);
      const file = choice.below(SOUND_SHARE) === 0 ? packed : damagedBytes(packed, choice);
      return outcome(() => callTokenizer(createPackedTokenizer(file, vocabulary), vocabulary, choice));
    };
  },
};
