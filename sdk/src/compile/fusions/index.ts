import type { Rule } from "../rewrite/rule.ts";
import { attentionFusion, standardAttentionFusion } from "./rules/attention.ts";
import { biasGeluFusions } from "./rules/bias-gelu.ts";
import { embedLayerNormalizationFusion } from "./rules/embed-layer-normalization.ts";
import { fastGeluFusion, tanhGeluFusion } from "./rules/fast-gelu.ts";
import { geluFusion } from "./rules/gelu.ts";
import { layerNormalizationFusion } from "./rules/layer-normalization.ts";
import { quickGeluFusion } from "./rules/quick-gelu.ts";
import { rotaryEmbeddingFusion, standardRotaryEmbeddingFusion } from "./rules/rotary-embedding.ts";
import { skipLayerNormalizationFusion } from "./rules/skip-layer-normalization.ts";

/** Stages in order; the rules of one are applied until none of them matches any more. */
export const fusions: readonly (readonly Rule[])[] = [
  [
    layerNormalizationFusion,
    geluFusion,
    fastGeluFusion,
    tanhGeluFusion,
    quickGeluFusion,
    rotaryEmbeddingFusion,
    standardRotaryEmbeddingFusion,
  ],
  [attentionFusion, standardAttentionFusion, embedLayerNormalizationFusion],
  [...biasGeluFusions, skipLayerNormalizationFusion],
];
