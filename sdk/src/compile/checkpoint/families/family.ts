import type * as v from "valibot";
import type { EncoderConfig } from "../encoder-config.ts";
import type { EncoderNames } from "../encoder-names.ts";
import type { FamilyHeads } from "../head-formula.ts";

/** A family of encoders: its config.json, its task heads, and the names of its tensors. */
export interface Family {
  /** Translates the family's config.json. */
  readonly config: v.GenericSchema<unknown, EncoderConfig>;
  /** Names of the tensors in the family's checkpoints. There are several sets if the names changed between versions. */
  readonly names: readonly [EncoderNames, ...EncoderNames[]];
  readonly heads: FamilyHeads;
}
