import * as v from "valibot";
import { CODE_MASK } from "../../../../runtime/tokenizer/packed/automaton.ts";
import type { WordPieceSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { normalize } from "../../../../runtime/tokenizer/packed/word-piece/characters.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { addedTokens, areUsable } from "../added-tokens.ts";
import { decodingOf } from "../decoding.ts";
import { codesOfCharacters, type EncodedToken, minimalAutomaton } from "../minimal-automaton.ts";
import { breakKinds, breaksInPlainPages, separatesAtSpaces } from "../word-breaks.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { characterTable, createNormalizer } from "./character-table.ts";
import { normalizerOptions, WordPieceJson } from "./word-piece-json.ts";

/** Continuation prefix for WordLevel, whose tokens are whole words. No token begins with it, because codes are at least 1. */
const NO_PREFIX = [0];

/**
 * Packs a tokenizer.json into the file that `createWordPiece` reads.
 *
 * @returns undefined if tokenizer.json is not a `WordPieceJson`, or if its tokens cannot be packed
 */
export function packWordPiece(json: object, config: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(WordPieceJson, json);
  if (!parsed.success) return undefined;
  const { decoder, model } = parsed.output;
  const steps = normalizerOptions(parsed.output.normalizer);
  if (!steps || !separatesAtSpaces(parsed.output.pre_tokenizer)) return undefined;
  const vocabulary = new Map(Object.entries(model.vocab));
  const unknown = vocabulary.get(model.unk_token);
  const specials = specialTokens(parsed.output.post_processor);
  const added = addedTokens(parsed.output, vocabulary);
  const normalizedTokens = added.filter(({ normalized }) => normalized);
  const options = {
    ...steps,
    breakKind: breakKinds(parsed.output.pre_tokenizer),
    breaksInPlainPages: breaksInPlainPages(parsed.output.pre_tokenizer),
    marksWords: normalizedTokens.some(({ singleWord }) => singleWord),
  };

  const normalizeCharacter = createNormalizer(options);
  const codes = codesOfCharacters([
    ...vocabulary.keys(),
    ...normalizedTokens.flatMap(({ content }) =>
      Array.from(content).flatMap((each) => normalizeCharacter(each).map(([character]) => character)),
    ),
  ]);
  const codesOf = (text: string) => Array.from(text, (character) => codes.get(character) ?? 0);
  const addedCode = codes.size + 1;
  if (unknown === undefined || specials === undefined || addedCode > CODE_MASK) return undefined;

  const characters = characterTable(codes, options);
  const tokens = Array.from(vocabulary, ([token, id]): EncodedToken => ({ codes: codesOf(token), id }));
  const patterns = normalizedTokens.map(({ content, id }): EncodedToken => {
    const symbols = normalize(characters, content);
    return { codes: [addedCode, ...symbols.map((symbol) => symbol & CODE_MASK)], id };
  });
  if (!areUsable(patterns.map(({ codes }) => codes.slice(1).join()))) return undefined;

  return writePackedFile<WordPieceSettings>(
    {
      kind: "wordpiece",
      unknown,
      longestWord: model.type === "WordLevel" ? Number.MAX_SAFE_INTEGER : model.max_input_chars_per_word,
      ...specials,
      ...decodingOf(json, config, unknown),
      characters: [...codes.keys()].join(""),
      cleansUp: decoder?.cleanup ?? false,
      continuation: model.type === "WordLevel" ? NO_PREFIX : codesOf(model.continuing_subword_prefix),
      addedCode,
      added,
    },
    { ...characters, ...minimalAutomaton([...tokens, ...patterns]) },
  );
}
