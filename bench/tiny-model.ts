import { join } from "node:path";
import { writePreparableCheckpoint } from "#test/fixtures/tiny-bert.ts";

/**
 * Writes a BERT of two small layers with random weights, for short runs.
 *
 * @returns its folder
 */
export async function writeTinyModel(parent: string): Promise<string> {
  const folder = join(parent, "tiny-model");
  const config = { hidden_size: 32, num_hidden_layers: 2, num_attention_heads: 2, intermediate_size: 64 };
  await writePreparableCheckpoint(folder, { config: { ...config, max_position_embeddings: 512 } });
  return folder;
}
