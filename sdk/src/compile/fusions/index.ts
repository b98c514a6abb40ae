import type { Rule } from "../rewrite/rule.ts";
import { attention, standardAttention } from "./rules/attention.ts";
import { biasGelu } from "./rules/bias-gelu.ts";
import { embedLayerNormalization } from "./rules/embed-layer-normalization.ts";
import { fastGelu, tanhGelu } from "./rules/fast-gelu.ts";
import { gelu } from "./rules/gelu.ts";
import { layerNormalization } from "./rules/layer-normalization.ts";
import { quickGelu } from "./rules/quick-gelu.ts";
import { rotaryEmbedding, standardRotaryEmbedding } from "./rules/rotary-embedding.ts";
import { skipLayerNormalization } from "./rules/skip-layer-normalization.ts";

/** Stages in order; the rules of one are applied until none of them matches any more. */
export const fusions: readonly (readonly Rule[])[] = [
  [layerNormalization, gelu, fastGelu, tanhGelu, quickGelu, rotaryEmbedding, standardRotaryEmbedding],
  [attention, standardAttention, embedLayerNormalization],
  [...biasGelu, skipLayerNormalization],
];
