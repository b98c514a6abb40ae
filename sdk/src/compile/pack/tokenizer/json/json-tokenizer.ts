import * as v from "valibot";
import { addedTokens } from "../added-tokens.ts";
import { byteCharacters } from "../byte-level/merge-table.ts";
import { common, Vocabulary } from "../tokenizer-json.ts";
import { rewrittenNormalizers } from "./normalizers.ts";
import { rewrittenPreTokenizers } from "./pre-tokenizers.ts";
import { refusedPart } from "./refuse-part.ts";

/** Schema of a setting that must have no effect. */
const none = v.nullish(v.union([v.literal(""), v.literal(0), v.literal(false)]));
const Model = v.variant("type", [
  v.object({ type: v.literal("WordPiece"), vocab: Vocabulary }),
  v.object({
    type: v.literal("BPE"),
    vocab: Vocabulary,
    dropout: none,
    continuing_subword_prefix: none,
    end_of_word_suffix: none,
    fuse_unk: none,
    unk_token: v.nullish(v.string()),
  }),
  v.object({
    type: v.literal("Unigram"),
    vocab: v.array(v.looseTuple([v.string(), v.number()])),
    unk_id: v.number(),
    byte_fallback: none,
  }),
]);
const AddedTokens = v.object({ added_tokens: common.added_tokens });
/** Pre-tokenizers that Unigram can have. With others, unknown words can be neighbours: @huggingface/tokenizers joins these to one token. */
const besideUnigram = ["WhitespaceSplit", "Metaspace"];

/** A tokenizer that has no packed form. */
export interface JsonTokenizer {
  readonly json: object;
  readonly largestId: number;
}

/**
 * Rewrites the parts of a tokenizer.json that @huggingface/tokenizers reads differently from Hugging Face's Rust tokenizers.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for parts that cannot be rewritten
 */
export function jsonTokenizer(json: object): JsonTokenizer {
  const { normalizer, pre_tokenizer, model: modelJson } = json as Record<string, unknown>;
  const parsed = v.safeParse(Model, modelJson);
  if (!parsed.success) throw refusedPart("model", describedModel(modelJson, parsed.issues));
  const model = parsed.output;
  const preTokenizers = rewrittenPreTokenizers(pre_tokenizer);
  const vocabulary =
    model.type === "Unigram"
      ? new Map(model.vocab.map(([piece], id) => [piece, id]))
      : new Map(Object.entries(model.vocab));
  if (model.type === "Unigram") assertMarksWords(pre_tokenizer);
  if (
    model.type === "BPE" &&
    !vocabulary.has(model.unk_token ?? "") &&
    !byteCharacters.every((each) => vocabulary.has(each))
  ) {
    throw refusedPart("model", "BPE without a token for unknown characters");
  }
  const added = addedTokensOf(json, vocabulary);
  return {
    json: {
      ...json,
      normalizer: sequence("normalizers", rewrittenNormalizers(normalizer)),
      pre_tokenizer: sequence("pretokenizers", preTokenizers),
      added_tokens: added,
    },
    largestId: [...vocabulary.values(), ...added.map(({ id }) => id)].reduce((a, b) => Math.max(a, b), 0),
  };
}

const sequence = (name: "normalizers" | "pretokenizers", parts: readonly object[]): object | null =>
  parts.length === 0 ? null : { type: "Sequence", [name]: parts };

/**
 * Returns the added tokens with the ids that the Rust tokenizers give them.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for tokens with `single_word`, which @huggingface/tokenizers finds at other places
 */
function addedTokensOf(json: object, vocabulary: ReadonlyMap<string, number>) {
  const added = addedTokens(v.parse(v.fallback(AddedTokens, { added_tokens: [] }), json), vocabulary);
  return added.map(({ singleWord: single_word, ...token }) => {
    if (single_word) throw refusedPart("added token", `${JSON.stringify(token.content)} with single_word`);
    return { ...token, single_word };
  });
}

/** Checks that unknown words cannot be neighbours in a Unigram tokenizer. @throws BertEdgeError `checkpoint_unsupported` */
function assertMarksWords(preTokenizer: unknown): void {
  const { type, pretokenizers = [preTokenizer] } = Object(preTokenizer);
  const parts: { type?: unknown }[] = type === "Sequence" ? pretokenizers : [Object(preTokenizer)];
  const other = parts.find((part) => part.type !== undefined && !besideUnigram.includes(String(part.type)));
  if (other) throw refusedPart("pre-tokenizer", `${other.type} with the model Unigram`);
  // Without ▁ between words, unknown words are neighbours too.
  if (parts.length > 0 && parts.at(-1)?.type === "WhitespaceSplit") {
    throw refusedPart("pre-tokenizer", "WhitespaceSplit without Metaspace, with the model Unigram");
  }
}

/** Names a model, and its first setting that is not supported. */
function describedModel(json: unknown, issues: readonly v.BaseIssue<unknown>[]): string {
  const key = issues[0] && v.getDotPath(issues[0]);
  const { type } = Object(json);
  return key === undefined || key === null || key === "type" ? String(type) : `${type} with this ${key}`;
}
