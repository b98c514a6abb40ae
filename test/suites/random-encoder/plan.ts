import fc from "fast-check";

/** How each part of an encoder is written; the numbers choose among equal forms. */
export interface EncoderPlan {
  readonly opset: number;
  readonly heads: number;
  readonly headSize: number;
  readonly inner: number;
  readonly positions: "range" | "stored" | "rows";
  readonly types: boolean;
  readonly mask: "none" | "added" | "selected";
  readonly layers: readonly LayerPlan[];
  readonly embeddingNorm: NormForm;
}

export interface LayerPlan {
  readonly split: "kept" | "computed" | "batched";
  readonly scale: "scores" | "queries" | "both";
  readonly packed: boolean;
  readonly norms: readonly [NormForm, NormForm];
  readonly activation: "erf" | "erf last" | "operator" | "tanh" | "tanh of powers" | "relu";
  readonly biasFirst: boolean;
  readonly skipFirst: boolean;
}

export type NormForm = "power" | "product" | "operator" | "tensorflow" | "twice";

const norm = fc.constantFrom<NormForm>("power", "product", "operator", "tensorflow", "twice");

const layer: fc.Arbitrary<LayerPlan> = fc.record({
  split: fc.constantFrom("kept", "computed", "batched"),
  scale: fc.constantFrom("scores", "queries", "both"),
  packed: fc.boolean(),
  norms: fc.tuple(norm, norm),
  activation: fc.constantFrom("erf", "erf last", "operator", "tanh", "tanh of powers", "relu"),
  biasFirst: fc.boolean(),
  skipFirst: fc.boolean(),
});

/** Encoders of BERT's sub-layers, each written in one of the ways in which exporters write them. */
export const encoderPlan: fc.Arbitrary<EncoderPlan> = fc.record({
  opset: fc.constantFrom(14, 17, 18, 20),
  heads: fc.integer({ min: 1, max: 4 }),
  headSize: fc.constantFrom(2, 4, 6),
  inner: fc.constantFrom(6, 16),
  positions: fc.constantFrom("range", "stored", "rows"),
  types: fc.boolean(),
  mask: fc.constantFrom("none", "added", "selected"),
  layers: fc.array(layer, { minLength: 1, maxLength: 3 }),
  embeddingNorm: norm,
});

/** What is left of such an encoder when it is fused whole. */
export function expectedCounts({ layers }: EncoderPlan): Record<string, number> {
  const count = (tanh: boolean) =>
    layers.filter(({ activation }) => activation !== "relu" && activation.startsWith("tanh") === tanh).length;
  const counts = {
    EmbedLayerNormalization: 1,
    Attention: layers.length,
    SkipLayerNormalization: 2 * layers.length,
    BiasGelu: count(false),
    FastGelu: count(true),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, number]) => number > 0));
}
