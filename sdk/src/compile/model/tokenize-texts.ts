import { join } from "node:path";
import { BertEdgeError } from "../../artifact/error.ts";
import type { Task } from "../../artifact/manifest.ts";
import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import { encodeRole, type Protocol } from "../../runtime/tasks/late-interaction.ts";
import { promptOf, unpooledPrompts } from "../../runtime/tasks/prompt.ts";
import { loadTokenizer } from "../../runtime/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../runtime/tokenizer/tokenizer.ts";
import { MIN_TOKENS } from "../checkpoint/encoder-config.ts";
import type { ShippedTokenizer } from "../pack/tokenizer/pack-tokenizer.ts";

/** A text, or two texts that the model reads as one sequence. */
export type TextOrPair = string | readonly [first: string, second: string];

/** Returns the token ids of each text or pair, special tokens included. */
export interface TokenizeTexts {
  (texts: readonly string[]): TokenIds[];
  (texts: readonly TextOrPair[]): TokenSequence[];
}

/**
 * Opens the tokenizer from the files that the artifact will contain.
 *
 * @param folder folder of the tokenizer, for error messages
 * @param vocabulary number of rows of the model's token embedding table
 * @throws BertEdgeError `checkpoint_invalid` when the tokenizer does not work
 */
export async function openTokenizer(
  folder: string,
  { manifest, files, largestId = 0 }: ShippedTokenizer,
  vocabulary: number,
): Promise<Tokenizer> {
  if (largestId >= vocabulary) throw missingRow(folder, largestId, vocabulary);
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
 * Returns a function that encodes texts and pairs. The function throws BertEdgeError `checkpoint_invalid` for a token id beyond the
 * vocabulary and for more special tokens than `maxTokens`, and `pairs_unsupported` if the tokenizer cannot encode pairs.
 *
 * @param folder folder of the tokenizer, for error messages
 * @param maxTokens maximum number of tokens of a text or pair; longer ones are cut
 * @param vocabulary number of rows of the model's token embedding table
 * @param protocol protocol of a model for late interaction: texts are read in turn as a query and as a document
 */
export function tokenizeTexts(
  folder: string,
  tokenizer: Tokenizer,
  maxTokens: number,
  vocabulary: number,
  protocol?: Protocol,
): TokenizeTexts {
  function sequenceOf(text: TextOrPair, index: number): TokenSequence {
    if (typeof text === "string" && protocol) {
      return encodeRole(tokenizer, text, { protocol, role: index % 2 === 0 ? "query" : "document" }).sequence;
    }
    if (typeof text === "string") return tokenizer.encode(text, maxTokens).ids;
    const { ids, secondFrom } = tokenizer.encodePair(...text, maxTokens);
    return { ids, secondFrom };
  }

  function tokenize(texts: readonly string[]): TokenIds[];
  function tokenize(texts: readonly TextOrPair[]): TokenSequence[];
  function tokenize(texts: readonly TextOrPair[]): TokenSequence[] {
    const sequences = texts.map(sequenceOf);
    const longest = sequences.reduce((most, sequence) => Math.max(most, idsOf(sequence).length), 0);
    // Only special tokens can make a text too long: they are not cut, but the text between them is.
    if (longest > maxTokens)
      throw invalid(folder, `makes ${longest} tokens of a text, but the model takes at most ${maxTokens}.`);
    const largest = sequences.reduce((max, sequence) => idsOf(sequence).reduce((a, b) => Math.max(a, b), max), 0);
    if (largest < vocabulary) return sequences;
    throw missingRow(folder, largest, vocabulary);
  }
  return tokenize;
}

const missingRow = (folder: string, id: number, vocabulary: number) =>
  invalid(folder, `has the token id ${id}, but the model's vocabulary size is ${vocabulary}.`);

const invalid = (folder: string, what: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("checkpoint_invalid", `${join(folder, "tokenizer.json")} ${what}`, {
    hint: "The weights and the tokenizer (tokenizer.json, tokenizer_config.json, added_tokens.json) must come from the same model.",
    cause,
  });

type MarkPrompts = (texts: readonly TextOrPair[], sequences: readonly TokenSequence[]) => readonly TokenSequence[];

/**
 * Returns a function that marks the tokens of the default prompt in texts that begin with it, if the model does not pool them. A request
 * for the rest of such a text runs the same sequence, because the default prompt is put before it.
 */
export function markPrompts(task: Task, tokenizer: Tokenizer, maxTokens: number): MarkPrompts {
  if (task.task !== "embed" || task.poolsPrompt !== false) return (_, sequences) => sequences;
  const prompt = promptOf({ ...task, name: "" });
  const mark = unpooledPrompts({ name: "", poolsPrompt: false, maxTokens }, tokenizer);
  return (texts, sequences) =>
    sequences.flatMap((ids, i) => (`${texts[i]}`.startsWith(prompt) ? mark(prompt, [ids as TokenIds]) : [ids]));
}
