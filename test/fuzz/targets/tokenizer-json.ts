import { packTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { createPackedTokenizer } from "#sdk/runtime/tokenizer/packed/packed-tokenizer.ts";
import { SeededChoice } from "../choose.ts";
import { damagedJson, type Json } from "../damage-json.ts";
import { outcome } from "../outcome.ts";
import { soundTokenizers } from "../sound-tokenizers.ts";
import type { Target } from "../target.ts";

/** Some damage adds tokens. */
const ADDED = 3;
const MAX_TOKENS = 16;

/** tokenizer.json of all kinds: packed if there is a packed form, and then loaded. */
export const tokenizerJson: Target = {
  runs: { long: 20_000, short: 200 },
  refusals: ["not_packed", "checkpoint_unsupported", "checkpoint_invalid", "tokenizer_invalid"],
  async start() {
    const sound = soundTokenizers();
    return (seed) => {
      const choice = new SeededChoice(seed);
      const { json, vocabulary } = choice.of(sound);
      const damaged = damagedJson(json as Json, choice);
      const packed = packTokenizer(Object(damaged));
      // Files without a packed form are read by Hugging Face's library, when a model is prepared.
      if (!packed) return "not_packed";
      return outcome(() => createPackedTokenizer(packed, vocabulary + ADDED).encode("to be", MAX_TOKENS));
    };
  },
};
