import type { Rule } from "../rewrite/rule.ts";
import { attention, standardAttention } from "./attention.ts";
import { biasGelu } from "./bias-gelu.ts";
import { embedLayerNormalization } from "./embed-layer-normalization.ts";
import { fastGelu, tanhGelu } from "./fast-gelu.ts";
import { gelu } from "./gelu.ts";
import { layerNormalization } from "./layer-normalization.ts";
import { quickGelu } from "./quick-gelu.ts";
import { rotaryEmbedding, standardRotaryEmbedding } from "./rotary-embedding.ts";
import { skipLayerNormalization } from "./skip-layer-normalization.ts";

/** Stages in order; the rules of one are applied until none of them matches any more. */
export const fusions: readonly (readonly Rule[])[] = [
  [layerNormalization, gelu, fastGelu, tanhGelu, quickGelu, rotaryEmbedding, standardRotaryEmbedding],
  [attention, standardAttention, embedLayerNormalization],
  [...biasGelu, skipLayerNormalization],
];
