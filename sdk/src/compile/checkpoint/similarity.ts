import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Similarity } from "../../artifact/manifest.ts";
import { SENTENCE_CONFIG } from "./modules/sentence-config.ts";
import type { Modules } from "./sentence-transformers.ts";

/** Names of sentence-transformers for functions that compare vectors. The cosine is the default. */
const similarities: Readonly<Record<string, Similarity | undefined>> = {
  cosine: undefined,
  dot: "dot",
  dot_product: "dot",
  euclidean: "euclidean",
  manhattan: "manhattan",
};

/**
 * Returns how sentence-transformers compares a model's vectors; undefined for cosines, its default.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for another function
 */
export function similarityOf(folder: string, { similarity: name = "cosine" }: Modules): Similarity | undefined {
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
