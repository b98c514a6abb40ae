import type * as v from "valibot";
import type { EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames } from "../encoder-names.ts";
import type { HeadFormula } from "../head-formula.ts";

/** What a family of encoders has of its own: how it says what it computes, and where it keeps its tensors. */
export interface Family {
  /** Its config.json. */
  readonly config: v.GenericSchema<unknown, EncoderConfig>;
  /** Every way in which its checkpoints name their tensors. */
  readonly names: readonly [EncoderNames, ...EncoderNames[]];
  /** How its classifiers of texts compute logits, as config.json has it. */
  readonly head: v.GenericSchema<unknown, HeadFormula>;
}
