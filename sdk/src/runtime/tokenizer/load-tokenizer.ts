import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, PREPARE_AGAIN } from "../../artifact/manifest.ts";
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
  const side = tokenizer.truncationSide;
  if (tokenizer.kind === "packed") return createPackedTokenizer(await read(tokenizer.file), vocabulary, side);
  const [{ createJsonTokenizer }, json, config] = await Promise.all([
    import("./json-tokenizer.ts"),
    read(tokenizer.json),
    read(tokenizer.config),
  ]);
  const [parsed, settings] = [parsedFile(tokenizer.json, json), parsedFile(tokenizer.config, config)];
  try {
    return createJsonTokenizer(parsed, settings, side, vocabulary);
  } catch (cause) {
    const files = `${tokenizer.json} with ${tokenizer.config}`;
    throw invalid(`No tokenizer can be made of ${files}: ${Object(cause).message}`, cause);
  }
}

function parsedFile(file: string, bytes: Uint8Array<ArrayBuffer>): object {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as object;
  } catch (cause) {
    throw invalid(`The tokenizer file ${file} is not JSON.`, cause);
  }
}

const invalid = (what: string, cause: unknown) =>
  new BertEdgeError("tokenizer_invalid", what, { hint: PREPARE_AGAIN, cause });
