import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Similarity } from "../../artifact/manifest.ts";
import { readSentenceConfig, SENTENCE_CONFIG } from "./modules/sentence-config.ts";

/** Names of sentence-transformers for functions that compare vectors. The cosine is the default. */
const similarities: Readonly<Record<string, Similarity | undefined>> = {
  cosine: undefined,
  dot: "dot",
  dot_product: "dot",
  euclidean: "euclidean",
  manhattan: "manhattan",
};

/**
 * Reads how sentence-transformers compares a model's vectors; undefined for cosines, its default.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for another function
 */
export async function readSimilarity(folder: string): Promise<Similarity | undefined> {
  const { similarity_fn_name } = await readSentenceConfig(folder);
  const name = similarity_fn_name ?? "cosine";
  if (Object.hasOwn(similarities, name)) return similarities[name];
  const file = join(folder, SENTENCE_CONFIG);
  throw new BertEdgeError(
    "checkpoint_unsupported",
    `${file}: the similarity_fn_name ${name} is not supported so far.`,
    {
      hint: `Supported: ${Object.keys(similarities).join(", ")}. Without the key, vectors are compared by their cosine.`,
    },
  );
}
