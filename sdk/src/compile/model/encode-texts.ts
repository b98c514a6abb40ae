import * as v from "valibot";
import type { TokenIds } from "../../runtime/engine/engine.ts";
import { readTokenizer } from "../checkpoint/model-folder.ts";
import { readJson } from "../files/json-file.ts";
import { shipTokenizer } from "../pack/tokenizer/pack-tokenizer.ts";
import { inSubprocess } from "../subprocess/run-in-subprocess.ts";
import { openTokenizer, tokenizeTexts } from "./tokenize-texts.ts";

/**
 * Maximum number of tokens of calibration and comparison texts. At this length, attention has a clear effect on the
 * results.
 */
const MAX_TOKENS = 128;

/**
 * Keys of tokenizer_config.json and config.json that limit the length of texts. `RESERVED_POSITIONS` is subtracted from
 * max_position_embeddings, because RoBERTa does not use its first two positions for the tokens of a text.
 */
const Lengths = v.object({ model_max_length: v.optional(v.number()), max_position_embeddings: v.optional(v.number()) });
const RESERVED_POSITIONS = 2;

/** Limits of the token ids and texts that a model can read. */
export interface ModelLimits {
  /** Number of rows of the token embedding table. */
  readonly vocabulary: number;
  /** Maximum number of tokens of a text; undefined if the model's file does not say. */
  readonly maxTokens: number | undefined;
}

/**
 * Encodes texts with a folder's tokenizer.json. The texts are for calibration or for the comparison of two models.
 *
 * @throws BertEdgeError `checkpoint_missing`, `checkpoint_invalid`
 */
export async function encodeTexts(
  folder: string,
  { vocabulary, maxTokens: fixed }: ModelLimits,
  texts: readonly string[],
): Promise<TokenIds[]> {
  const files = await readTokenizer(folder);
  const { model_max_length = MAX_TOKENS } = v.parse(v.fallback(Lengths, {}), files.config);
  const config = await readJson(folder, "config.json", v.fallback(Lengths, {}));
  const positions = (config?.max_position_embeddings ?? Number.POSITIVE_INFINITY) - RESERVED_POSITIONS;
  const maxTokens = Math.min(MAX_TOKENS, model_max_length, positions, fixed ?? MAX_TOKENS);
  return tokenizeTexts(
    folder,
    await openTokenizer(folder, shipTokenizer(files), vocabulary),
    maxTokens,
    vocabulary,
  )(texts);
}

/**
 * Runs `encodeTexts` in a subprocess, because the tokenizer's objects would stay in the caller's heap.
 *
 * @throws BertEdgeError `texts_not_encoded`, `aborted`, and the errors of `encodeTexts`
 */
export const encodeTextsInSubprocess = (
  folder: string,
  limits: ModelLimits,
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<TokenIds[]> =>
  inSubprocess("compile/model/encode-texts", encodeTexts, {
    failure: "texts_not_encoded",
    what: "Texts could not be encoded",
    // Thousands of texts take only seconds, so this deadline stops only a subprocess that hangs.
    deadlineMs: 60 * 60_000,
    signal,
  })(folder, limits, texts);
