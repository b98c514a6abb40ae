import type { Manifest } from "../../artifact/manifest.ts";
import { createPackedTokenizer } from "./packed/packed-tokenizer.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * Loads the tokenizer of an artifact. Imports @huggingface/tokenizers only for artifacts with a tokenizer.json.
 *
 * @param read function that reads a file of the artifact
 * @throws BertEdgeError `tokenizer_invalid`, and any error of `read`
 */
export async function loadTokenizer(
  { tokenizer, vocabulary }: Pick<Manifest, "tokenizer" | "vocabulary">,
  read: (file: string) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<Tokenizer> {
  if (tokenizer.kind === "packed") return createPackedTokenizer(await read(tokenizer.file), vocabulary);
  const parsed = async (file: string) => JSON.parse(new TextDecoder().decode(await read(file))) as object;
  const [{ createJsonTokenizer }, json, config] = await Promise.all([
    import("./json-tokenizer.ts"),
    parsed(tokenizer.json),
    parsed(tokenizer.config),
  ]);
  return createJsonTokenizer(json, config);
}
