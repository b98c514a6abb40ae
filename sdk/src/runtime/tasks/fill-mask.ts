import { BertEdgeError } from "../../artifact/error.ts";
import { type Manifest, taskUnsupported } from "../../artifact/manifest.ts";
import { once } from "../../artifact/once.ts";
import { idsOf } from "../engine/token-sequence.ts";
import { inputEncoder } from "../input-encoder.ts";
import type { Tokenizer } from "../tokenizer/tokenizer.ts";
import { bestOf, softmax } from "./scores.ts";
import type { CuttingOptions, ModelOutput, TaskCall } from "./task-call.ts";

/**
 * Maximum number of tokens in all results of an answer: each result has its whole sequence. 2,048 texts of 97 tokens nearly reach this
 * limit with 5 results each, and writing them takes 1.3 s of CPU time.
 */
const MAX_RESULT_TOKENS = 1_000_000;

export interface FillMaskOptions extends CuttingOptions {
  /** Maximum number of tokens for each mask token. Default 5. */
  readonly topK?: number | undefined;
  /**
   * Tokens among which the results are chosen, as the vocabulary spells them. A word that is not a token stands for its first token.
   * Default: all tokens.
   */
  readonly targets?: readonly string[] | undefined;
}

/** A token in place of a mask token. */
export interface FilledMask {
  readonly tokenId: number;
  /** The token as a text. */
  readonly token: string;
  /** Probability among all tokens of the vocabulary. */
  readonly score: number;
  /** The text with this token filled in. If the text has several mask tokens, the other ones and all special tokens stay in it. */
  readonly sequence: string;
}

/**
 * Calls a masked language model. The result is, for each text and each of its mask tokens, the most probable tokens, as in
 * transformers' FillMaskPipeline.
 */
export const fillMaskCall = (
  texts: readonly string[],
  { topK = 5, targets, truncate = false }: FillMaskOptions = {},
): TaskCall<FilledMask[][][], FilledMask[][]> => ({
  texts,
  on(manifest) {
    if (manifest.task !== "fill-mask") throw taskUnsupported(manifest, "fill-mask");
    const { mask, vocabulary } = manifest;
    return {
      inputs: texts,
      truncate,
      encoder(tokenizer) {
        const encode = inputEncoder(tokenizer, manifest, truncate);
        const chosen = once(() => targets?.map((target) => targetId(tokenizer, target)));
        let resultTokens = 0;
        return (input, index) => {
          const ids = idsOf(encode(input, index));
          const positions = Array.from(ids.keys()).filter((at) => ids[at] === mask.id);
          if (positions.length === 0) throw maskMissing(manifest, index);
          resultTokens += positions.length * Math.min(topK, chosen()?.length ?? vocabulary) * ids.length;
          if (resultTokens > MAX_RESULT_TOKENS) throw tooManyResults(index);
          return {
            sequences: [ids],
            read: ([logits]) =>
              maskCandidates(logits as ModelOutput, vocabulary, { topK, targets: chosen() }).map((candidates, i) =>
                candidates.map(({ tokenId, score }) => {
                  const filled = ids.with(positions[i] as number, tokenId);
                  const sequence = tokenizer.vocabulary.decode(filled, { skipSpecial: positions.length === 1 });
                  return { tokenId, token: tokenizer.vocabulary.decode([tokenId]), score, sequence };
                }),
              ),
          };
        };
      },
      decode: (results) => [...results],
    };
  },
});

/** Returns the token id that a target stands for. @throws BertEdgeError `request_invalid` for a target without tokens */
function targetId({ vocabulary, encode }: Tokenizer, target: string): number {
  const { ids } = encode(target, Number.POSITIVE_INFINITY);
  const id = vocabulary.idOf(target) ?? ids.find((each) => !vocabulary.isSpecial(each));
  if (id !== undefined) return id;
  throw new BertEdgeError("request_invalid", `The target ${JSON.stringify(target)} has no token in the vocabulary.`, {
    hint: ["send words or tokens of the model's vocabulary", { remove: "targets" }],
  });
}

const tooManyResults = (index: number) =>
  new BertEdgeError(
    "request_invalid",
    `The results of the inputs up to input ${index} would have more than ${MAX_RESULT_TOKENS} tokens: each result has its whole sequence.`,
    { hint: "Send fewer inputs, shorter ones, or a smaller `top_k`.", index },
  );

const maskMissing = ({ name, mask }: Extract<Manifest, { task: "fill-mask" }>, index: number) =>
  new BertEdgeError(
    "request_invalid",
    `Input ${index} has no mask token among the tokens that ${name} reads. Its mask token is ${mask.token}.`,
    { hint: `Write ${mask.token} for the word to predict.`, index },
  );

/** A token that could stand where a mask token is. */
export interface MaskCandidate {
  readonly tokenId: number;
  /** Probability among all tokens of the vocabulary. */
  readonly score: number;
}

export interface CandidateOptions {
  /** Maximum number of candidates for each mask token; default 5. */
  readonly topK?: number | undefined;
  /** Token ids among which the candidates are chosen; default: all. They do not change the scores. */
  readonly targets?: readonly number[] | undefined;
}

/**
 * Finds the most probable tokens for each mask token, best first, as transformers' FillMaskPipeline does: a softmax over the
 * vocabulary. The candidates of one mask token do not depend on those of another.
 *
 * @param logits [masks, vocabulary], row-major
 * @returns [masks, candidates]
 */
export function maskCandidates(
  logits: Float32Array,
  vocabulary: number,
  { topK = 5, targets }: CandidateOptions = {},
): MaskCandidate[][] {
  const ids = targets && [...new Set(targets)];
  return Array.from({ length: logits.length / vocabulary }, (_, mask) => {
    const scores = softmax(logits.subarray(mask * vocabulary, (mask + 1) * vocabulary));
    const scoreOf = (tokenId: number) => scores[tokenId] as number;
    return bestOf(ids ?? scores.keys(), scoreOf, topK).map((tokenId) => ({ tokenId, score: scoreOf(tokenId) }));
  });
}
