import type { Rule } from "../rewrite/rule.ts";
import { attentionFusion, standardAttentionFusion } from "./rules/attention.ts";
import { biasGeluFusions } from "./rules/bias-gelu.ts";
import { embedLayerNormalizationFusion } from "./rules/embed-layer-normalization.ts";
import { fastGeluFusion, tanhGeluFusion } from "./rules/fast-gelu.ts";
import { geluFusion } from "./rules/gelu.ts";
import { layerNormalizationFusion } from "./rules/layer-normalization.ts";
import { quickGeluFusion } from "./rules/quick-gelu.ts";
import { rmsNormalizationFusion } from "./rules/rms-normalization.ts";
import { rotaryEmbeddingFusion, standardRotaryEmbeddingFusion } from "./rules/rotary-embedding.ts";
import { skipNormalizationFusions } from "./rules/skip-layer-normalization.ts";

/**
 * The fusions, in stages. The rules of a stage are applied until none matches; then the graph is normalized again.
 *
 * To add a fusion:
 *
 * 1. Write a file in `rules/` with a pattern and its replacement. `gelu.ts` is a short example.
 * 2. List its rule in the first stage in which the operators of the pattern exist.
 * 3. Add the fused operator to `fused-operators.ts`.
 */
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
  // After LayerNormalization, which is RMSNorm of x − mean(x).
  [rmsNormalizationFusion, attentionFusion, standardAttentionFusion, embedLayerNormalizationFusion],
  [...biasGeluFusions, ...skipNormalizationFusions],
];
