import { join } from "node:path";
import { BertEdgeError } from "../artifact/error.ts";
import type { TokenIds } from "../runtime/engine/engine.ts";
import { createTokenizer } from "../runtime/tokenizer/tokenizer.ts";
import type { TokenizerFiles } from "./checkpoint/model-folder.ts";

/** Token ids of each text, special tokens included. */
export type TextEncoder = (texts: readonly string[]) => TokenIds[];

/** The shortest text that a tokenizer must take: a word between two special tokens. */
const LEAST_TOKENS = 3;

/**
 * @param folder where the tokenizer is, for errors
 * @param maxTokens of one text; longer ones are cut
 * @param vocabulary rows of the model's word table
 * @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work, and from the encoder when it is another model's
 */
export function encoderOf(
  folder: string,
  { json, config }: TokenizerFiles,
  maxTokens: number,
  vocabulary: number,
): TextEncoder {
  const invalid = (what: string, cause?: unknown) =>
    new BertEdgeError("checkpoint_invalid", `${join(folder, "tokenizer.json")} ${what}.`, {
      hint: "tokenizer.json and the weights must come from the same model.",
      cause,
    });
  const tokenize = usable(json, config, (cause) => invalid("cannot be used as a tokenizer", cause));
  return (texts) => {
    const sequences = texts.map((text) => tokenize(text, maxTokens).ids);
    const largest = sequences.reduce((max, ids) => ids.reduce((a, b) => Math.max(a, b), max), 0);
    if (largest < vocabulary) return sequences;
    throw invalid(`has the token ${largest}, but the model has ${vocabulary} words`);
  };
}

function usable(json: object, config: object, failure: (cause: unknown) => BertEdgeError) {
  try {
    const { encode } = createTokenizer(json, config);
    encode("a", LEAST_TOKENS);
    return encode;
  } catch (cause) {
    throw failure(cause);
  }
}
