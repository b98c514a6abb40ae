import type { EncoderSizes } from "#test/suites/kernels/kernel-case.ts";

// Sizes from each model's config.json on Hugging Face.
const miniLm = { layers: 6, hidden: 384, heads: 12, intermediate: 1536 };
const bertBase = { layers: 12, hidden: 768, heads: 12, intermediate: 3072 };

/** For short runs, and small enough for the reference kernels. */
export const tiny: EncoderSizes = { layers: 2, hidden: 32, heads: 2, intermediate: 64, tokens: 16 };

export const encoders: Readonly<Record<string, EncoderSizes>> = {
  "all-MiniLM-L6-v2, 16 tokens": { ...miniLm, tokens: 16 },
  "all-MiniLM-L6-v2, 128 tokens": { ...miniLm, tokens: 128 },
  "all-MiniLM-L6-v2, 512 tokens": { ...miniLm, tokens: 512 },
  "BERT-base, 128 tokens": { ...bertBase, tokens: 128 },
};
