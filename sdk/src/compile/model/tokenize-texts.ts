import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { MIN_TOKENS } from "../checkpoint/encoder-config.ts";
import type { ShippedTokenizer } from "../pack/tokenizer/ship-tokenizer.ts";

/** Returns the token ids of each text, special tokens included. */
export type TokenizeTexts = (texts: readonly string[]) => TokenIds[];

/**
 * Opens the tokenizer from the files that the artifact will contain.
 *
 * @param folder folder of the tokenizer, for error messages
 * @param vocabulary number of rows of the model's token embedding table
 * @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work
 */
export async function openTokenizer(
  folder: string,
  { manifest, files }: ShippedTokenizer,
  vocabulary: number,
): Promise<Tokenizer> {
  const read = async (file: string) => files.get(file) as Uint8Array<ArrayBuffer>;
  try {
    const tokenizer = await loadTokenizer({ tokenizer: manifest, vocabulary }, read);
    tokenizer.encode("a", MIN_TOKENS);
    return tokenizer;
  } catch (cause) {
    const why = cause instanceof BertEdgeError ? `: ${cause.message}` : ".";
    throw invalid(folder, `cannot be used as a tokenizer${why}`, cause);
  }
}

/**
 * Returns a function that encodes texts. The function throws BertEdgeError `checkpoint_invalid` for token ids that the
 * model does not have.
 *
 * @param folder folder of the tokenizer, for error messages
 * @param maxTokens maximum number of tokens of a text; longer texts are cut
 * @param vocabulary number of rows of the model's token embedding table
 */
export function tokenizeTexts(
  folder: string,
  tokenizer: Tokenizer,
  maxTokens: number,
  vocabulary: number,
): TokenizeTexts {
  return (texts) => {
    const sequences = texts.map((text) => tokenizer.encode(text, maxTokens).ids);
    const largest = sequences.reduce((max, ids) => ids.reduce((a, b) => Math.max(a, b), max), 0);
    if (largest < vocabulary) return sequences;
    throw invalid(folder, `has the token id ${largest}, but the model's vocabulary size is ${vocabulary}.`);
  };
}

const invalid = (folder: string, what: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("checkpoint_invalid", `${join(folder, "tokenizer.json")} ${what}`, {
    hint: "tokenizer.json and the weights must come from the same model.",
    cause,
  });
