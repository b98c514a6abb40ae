import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, sentenceEncoder } from "../../artifact/manifest.ts";
import type { TokenIds, TokenSequence } from "../engine/engine.ts";
import { idsOf, pooledFromOf } from "../engine/token-sequence.ts";
import { inputEncoder } from "../input-encoder.ts";
import { inputTooLong } from "../input-too-long.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { sideOf, type Truncation } from "../truncation.ts";
import { promptOf, searchPrompts, unpooledPrompts } from "./prompt.ts";
import { unit } from "./sentence-vector.ts";
import { type EmbedParameters, ENCODED, type Encode, type ModelOutput, type TaskCall } from "./task-call.ts";
import { shortened } from "./vector-formats.ts";

/** A text, or the ids that the model's tokenizer gives it. */
export type EmbedInput = string | readonly number[];

/**
 * Calls a sentence encoder. The result is one vector [dimensions] per input.
 *
 * @param given texts, or token ids with special tokens. Token ids get no prompt
 */
export const embedCall = (
  given: readonly EmbedInput[],
  { truncate = false, dimensions, promptName, normalize, search, poolChunks = false, maxTokens }: EmbedParameters = {},
): TaskCall<ModelOutput[], ModelOutput> => ({
  texts: given.map((input) => (Array.isArray(input) ? ENCODED : (input as string))),
  on(manifest) {
    const own = sentenceEncoder(manifest);
    const isShorter = maxTokens !== undefined && maxTokens < own.maxTokens;
    const model = isShorter ? { ...own, maxTokens } : own;
    const size = dimensions ?? model.dimensions;
    if (size > model.dimensions) throw dimensionsUnsupported(model.name, model.dimensions, size);
    if (normalize === false && model.normalize) throw alwaysNormalized(model.name);
    const isSame = size === model.dimensions && (normalize ?? model.normalize) === model.normalize;
    const before = search ? searchPrompts(model)[search] : promptOf(model, promptName);
    const poolsPart = model.poolsPrompt === false && before !== "";
    const isPlain = !isShorter && !poolChunks && !poolsPart && given.every((input) => typeof input === "string");
    return {
      inputs: given.map((input) => (typeof input === "string" ? before + input : ENCODED)),
      truncate,
      encoder: isPlain ? undefined : encoder,
      // `shortened` also normalizes, so it serves both for fewer dimensions and for `normalize`.
      decode: (vectors) => vectors.map((vector) => (isSame ? vector : shortened(vector, size))),
    };

    function encoder(tokenizer: Tokenizer): Encode<ModelOutput> {
      const encode = inputEncoder(tokenizer, model, truncate);
      const unpooled = unpooledPrompts(model, tokenizer);
      return (input, index) => {
        const ids = given[index] as EmbedInput;
        if (typeof ids !== "string") {
          const checked = checkedIds(tokenizer, model, { ids, index, truncate });
          return { sequences: [checked], text: tokenizer.vocabulary.decode(checked, { skipSpecial: true }) };
        }
        const chunks = unpooled(
          before,
          poolChunks ? tokenizer.encodeChunks(input as string, model.maxTokens) : [idsOf(encode(input, index))],
        );
        const [first] = chunks;
        return {
          sequences: chunks,
          read: (vectors) => pooledVector(vectors, chunks, model.normalize),
          text:
            isShorter && !poolChunks && first
              ? tokenizer.vocabulary.decode(idsOf(first), { skipSpecial: true })
              : undefined,
        };
      };
    }
  },
});

const dimensionsUnsupported = (name: string, own: number, dimensions: number): BertEdgeError =>
  new BertEdgeError(
    "dimensions_unsupported",
    `The model ${name} returns vectors of up to ${own} dimensions, not ${dimensions}.`,
    { hint: [{ remove: "dimensions" }, { set: "dimensions", to: own, why: "or less" }] },
  );

const alwaysNormalized = (name: string): BertEdgeError =>
  new BertEdgeError("request_invalid", `The model ${name} computes only vectors of the length 1.`, {
    hint: [{ remove: "normalize" }, { set: "normalize", to: true }],
  });

interface GivenIds {
  readonly ids: readonly number[];
  /** Position of the input, for error messages. */
  readonly index: number;
  /** Whether to cut an input with too many ids. Otherwise it is refused. */
  readonly truncate: Truncation;
}

/**
 * Checks token ids that a caller gives instead of a text. They must have the special tokens that the model's own tokenizer puts
 * around texts: ids of another tokenizer would give vectors too, but wrong ones.
 *
 * @throws BertEdgeError `request_invalid`, `input_too_long`
 */
export function checkedIds(
  tokenizer: Tokenizer,
  { name, maxTokens, vocabulary }: Pick<Manifest, "name" | "maxTokens" | "vocabulary">,
  { ids, index, truncate }: GivenIds,
): TokenIds {
  const around = tokenizer.encode("", maxTokens).ids;
  const [first, last] = [around.at(0), around.at(-1)];
  const isMarked = first === undefined || (ids.length > 1 && ids[0] === first && ids.at(-1) === last);
  if (!isMarked || ids.length === 0 || !ids.every((id) => id < vocabulary)) {
    throw new BertEdgeError(
      "request_invalid",
      `Input ${index} is not a list of token ids from the tokenizer of ${name}.`,
      {
        hint: [
          { set: "inputs", to: "to be", why: "or other texts" },
          `send ids of the model's tokenizer with special tokens (${around.join(" … ")}). LangChain sends ids of OpenAI models, unless check_embedding_ctx_length is False`,
        ],
        index,
      },
    );
  }
  if (ids.length <= maxTokens) return Int32Array.from(ids);
  if (!truncate) throw inputTooLong({ name, maxTokens }, index, ids.length);
  const fromLeft = sideOf(truncate, tokenizer) === "left";
  const kept = Int32Array.from(fromLeft ? ids.slice(-maxTokens) : ids.slice(0, maxTokens));
  if (first !== undefined && fromLeft) kept[0] = first;
  if (last !== undefined) kept[maxTokens - 1] = last;
  return kept;
}

/**
 * Returns the vector of a text from those of its chunks: v = Σ nᵢ vᵢ / Σ nᵢ, where nᵢ is the number of a chunk's pooled tokens and vᵢ
 * its vector.
 *
 * @param vectors one vector per chunk: [dimensions] each
 * @param normalize whether the vector must have the length 1
 */
export function pooledVector(
  vectors: readonly ModelOutput[],
  chunks: readonly TokenSequence[],
  normalize: boolean,
): ModelOutput {
  const [first] = vectors as readonly [ModelOutput];
  if (vectors.length === 1) return first;
  const counts = chunks.map((chunk) => idsOf(chunk).length - pooledFromOf(chunk));
  const tokens = counts.reduce((sum, count) => sum + count, 0);
  const mean = new Float32Array(first.length);
  vectors.forEach((vector, i) => {
    const share = (counts[i] as number) / tokens;
    vector.forEach((value, at) => {
      mean[at] = (mean[at] as number) + share * value;
    });
  });
  return normalize ? unit(mean) : mean;
}
