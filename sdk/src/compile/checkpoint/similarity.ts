import * as v from "valibot";
import type { Similarity } from "../../artifact/manifest.ts";
import { readJson } from "../files/json-file.ts";
import { configErrorCode } from "./config-error-code.ts";

const NAMES = ["cosine", "dot", "dot_product", "euclidean", "manhattan"] as const;
const Keys = v.object({
  similarity_fn_name: v.nullish(v.picklist(NAMES, `similarity_fn_name must be one of ${NAMES.join(", ")}`)),
});

/**
 * Reads how sentence-transformers compares a model's vectors; undefined for cosines, its default.
 *
 * @throws BertEdgeError `checkpoint_invalid`; `checkpoint_unsupported` for another function
 */
export async function readSimilarity(folder: string): Promise<Similarity | undefined> {
  const config = await readJson(folder, "config_sentence_transformers.json", Keys, configErrorCode);
  const name = config?.similarity_fn_name ?? "cosine";
  if (name === "cosine") return undefined;
  return name === "dot_product" ? "dot" : name;
}
