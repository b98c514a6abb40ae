import fc from "fast-check";
import * as v from "valibot";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { originalNomicKeys } from "#test/fixtures/tiny-nomic.ts";
import { maxTokensOf } from "./encoder-config.ts";
import { families } from "./families/index.ts";
import { EncoderConfigJson } from "./read-encoder-config.ts";

const sizes = {
  vocab_size: 100,
  hidden_size: 32,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  intermediate_size: 64,
  max_position_embeddings: 40,
};
/** Minimal configurations of the families that share key names. DistilBERT and nomic-ai's own NomicBERT use other names. */
const common = Object.keys(families)
  .filter((name) => name !== "distilbert")
  .map((model_type) => ({ ...sizes, model_type }));
const distilBert = { ...sizes, model_type: "distilbert", dim: 32, n_layers: 2, n_heads: 4, hidden_dim: 64 };
const complete: Record<string, unknown>[] = [...common, distilBert, originalNomicKeys(sizes)];

it.each(complete)("reads the sizes of $model_type", (keys) => {
  const config = v.parse(EncoderConfigJson, keys);
  expect(config).toMatchObject({ vocabularySize: 100, hiddenSize: 32, layers: 2, heads: 4 });
  expect(config.intermediateSize).toBeGreaterThanOrEqual(64);
  expect(maxTokensOf(config)).toBeLessThanOrEqual(40);
});

it("requires three positions after the padding id", () => {
  const roberta = (pad_token_id: number) => ({
    ...sizes,
    model_type: "roberta",
    max_position_embeddings: 40,
    pad_token_id,
  });
  expect(v.safeParse(EncoderConfigJson, roberta(36)).success).toBe(true);
  expect(v.safeParse(EncoderConfigJson, roberta(37)).success).toBe(false);
});

it("accepts or refuses any keys, with little memory", () => {
  const names = [...new Set(complete.flatMap(Object.keys)), "layer_types", "rope_parameters", "local_attention"];
  const value = fc.oneof(fc.jsonValue(), fc.nat(64), fc.constantFrom(1e9, 2 ** 31 - 1, 2 ** 53, 1e300, -1, 0.5, null));
  const changed = fc
    .tuple(fc.constantFrom(...complete), fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 3 }))
    .map(([keys, change]): unknown => ({ ...keys, ...change }));
  const outcomes = new Set<boolean>();
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: changed }, fc.jsonValue()), (keys) => {
      outcomes.add(v.safeParse(EncoderConfigJson, keys).success);
    }),
    seeded(1000),
  );
  expect(outcomes.size).toBe(2);
});
