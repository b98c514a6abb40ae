import * as v from "valibot";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { readTokenizer } from "../checkpoint/model-folder.ts";
import { readJson } from "../files/json-file.ts";
import { shipTokenizer } from "../pack/tokenizer/ship-tokenizer.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";
import { encoderOf, openTokenizer } from "./text-encoder.ts";

/** Of a text that is observed or compared: enough for attention to matter. */
const MAX_TOKENS = 128;

/** Positions of texts that a folder's files speak of; RoBERTa's count from 2 on. */
const Lengths = v.object({ model_max_length: v.optional(v.number()), max_position_embeddings: v.optional(v.number()) });
const RESERVED_POSITIONS = 2;

/**
 * Token ids of texts to observe or compare, as a folder's tokenizer.json makes them.
 *
 * @param vocabulary rows of the model's word table
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`
 */
export async function encodeTexts(folder: string, vocabulary: number, texts: readonly string[]): Promise<TokenIds[]> {
  const files = await readTokenizer(folder);
  const { model_max_length = MAX_TOKENS } = v.parse(v.fallback(Lengths, {}), files.config);
  const config = await readJson(folder, "config.json", v.fallback(Lengths, {}));
  const positions = (config?.max_position_embeddings ?? Number.POSITIVE_INFINITY) - RESERVED_POSITIONS;
  const maxTokens = Math.min(MAX_TOKENS, model_max_length, positions);
  return encoderOf(folder, await openTokenizer(folder, shipTokenizer(files), vocabulary), maxTokens, vocabulary)(texts);
}

/**
 * Runs `encodeTexts` in a subprocess: a tokenizer's objects would stay in the caller's heap.
 *
 * @throws BertEdgeError `texts_not_encoded`, `aborted`, and as `encodeTexts`
 */
export const encodeTextsInSubprocess = (
  folder: string,
  vocabulary: number,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<TokenIds[]> =>
  inSubprocess(import.meta.url, encodeTexts, {
    failure: "texts_not_encoded",
    what: "Texts could not be encoded",
    // Thousands of texts take seconds.
    deadlineMs: 60 * 60_000,
    signal,
  })(folder, vocabulary, texts);
