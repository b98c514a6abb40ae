import { BertEdgeError } from "../../artifact/error.ts";
import { sentenceEncoder } from "../../artifact/manifest.ts";
import type { TokenSequence } from "../engine/engine.ts";
import { idsOf } from "../engine/token-sequence.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { TextInput } from "../text-input.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { checkedIds } from "./given-ids.ts";
import { pooledChunks } from "./pooled-chunks.ts";
import { type PromptedParameters, promptOf, searchPrompts } from "./prompt.ts";
import { ENCODED, type TaskCall } from "./task-call.ts";
import { unpooledPrompts } from "./unpooled-prompt.ts";
import { shortened } from "./vector-formats.ts";

export interface EmbedParameters extends PromptedParameters {
  /**
   * Size of the vectors: up to that of the model, which is the default. Vectors are cut, and normalized again. Only models that
   * were trained with Matryoshka representation learning keep their quality.
   */
  readonly dimensions?: number | undefined;
  /**
   * Whether texts that are too long are embedded in chunks. Their vector is the mean of the chunks' vectors, weighted by tokens.
   * Default: they are refused, or cut.
   */
  readonly poolChunks?: boolean | undefined;
  /** Whether vectors must have the length 1. Default: as the model says. */
  readonly normalize?: boolean | undefined;
  /** Chooses the prompt of a search's queries or documents, instead of the one that `prompt` names. */
  readonly search?: "query" | "document" | undefined;
}

/** A text, or the ids that the model's tokenizer gives it. */
export type EmbedInput = string | readonly number[];

/**
 * Calls a sentence encoder. The result is one vector [dimensions] per input.
 *
 * @param given texts, or token ids with special tokens, before which no prompt is put
 */
export const embedCall = (
  given: readonly EmbedInput[],
  { truncate = false, dimensions, prompt, normalize, search, poolChunks = false }: EmbedParameters = {},
): TaskCall<Float32Array<ArrayBuffer>[]> => ({
  texts: given.map((input) => (typeof input === "string" ? input : ENCODED)),
  on(manifest) {
    const encoder = sentenceEncoder(manifest);
    const { name, dimensions: own } = encoder;
    const size = dimensions ?? own;
    if (size > own) throw dimensionsUnsupported(name, own, size);
    if (normalize === false && encoder.normalize) throw alwaysNormalized(name);
    const isSame = size === own && (normalize ?? encoder.normalize) === encoder.normalize;
    const before = search ? searchPrompts(encoder)[search] : promptOf(encoder, prompt);
    const inputs = given.map((input) => (typeof input === "string" ? before + input : ENCODED));
    const chunks: TokenSequence[][] = [];
    const poolsPart = encoder.poolsPrompt === false && before !== "";
    const unpooled = unpooledPrompts(encoder);
    return {
      inputs,
      truncate,
      ...((poolChunks || poolsPart || given.some((input) => typeof input !== "string")) && { encode }),
      decode(outputs) {
        const vectors = poolChunks ? pooledChunks(outputs, chunks, encoder.normalize) : [...outputs];
        // `shortened` normalizes.
        return isSame ? vectors : vectors.map((vector) => shortened(vector, size));
      },
    };

    function encode(tokenizer: Tokenizer, input: TextInput, index: number): TokenSequence[] {
      const ids = given[index] as EmbedInput;
      if (typeof ids === "string") {
        const sequences = poolChunks
          ? tokenizer.encodeChunks(input as string, encoder.maxTokens)
          : [idsOf(inputEncoder(tokenizer, encoder, truncate)(input, index))];
        const marked = unpooled(tokenizer, before, sequences);
        chunks[index] = marked;
        return marked;
      }
      const checked = checkedIds(tokenizer, encoder, { ids, index, truncate });
      // Regions that take only texts get this one.
      inputs[index] = tokenizer.vocabulary.decode(checked, { skipSpecial: true });
      chunks[index] = [checked];
      return [checked];
    }
  },
});

const dimensionsUnsupported = (name: string, own: number, dimensions: number): BertEdgeError =>
  new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of up to ${own} dimensions, not ${dimensions}.`,
    { hint: `Leave \`dimensions\` out, or set it to at most ${own}.` },
  );

const alwaysNormalized = (name: string): BertEdgeError =>
  new BertEdgeError("request_invalid", `The model ${name} computes only vectors of the length 1.`, {
    hint: "Leave `normalize` out, or set it to true.",
  });
