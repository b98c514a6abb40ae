import type * as v from "valibot";
import type { EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames } from "../encoder-names.ts";
import type { HeadFormula } from "../head-formula.ts";

/** A family of encoders: its config.json, its classification head, and the names of its tensors. */
export interface Family {
  /** Translates its config.json. */
  readonly config: v.GenericSchema<unknown, EncoderConfig>;
  /** The names of tensors in its checkpoints; several for families that renamed them. */
  readonly names: readonly [EncoderNames, ...EncoderNames[]];
  /** Translates the keys of config.json that decide how its classifiers compute logits. */
  readonly head: v.GenericSchema<unknown, HeadFormula>;
}
