import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

/** Writes a model folder with a BERT-base of random weights (110 M parameters). */
export const writeBaseCheckpoint = (folder: string): Promise<void> =>
  writePreparableCheckpoint(folder, {
    config: {
      hidden_size: 768,
      num_hidden_layers: 12,
      num_attention_heads: 12,
      intermediate_size: 3072,
      max_position_embeddings: 512,
    },
  });
