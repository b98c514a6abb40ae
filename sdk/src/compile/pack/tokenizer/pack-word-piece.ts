import * as v from "valibot";
import { CODE_MASK } from "../../../runtime/tokenizer/packed/character.ts";
import { normalize } from "../../../runtime/tokenizer/packed/characters.ts";
import type { WordPieceHeader } from "../../../runtime/tokenizer/packed/packed-header.ts";
import { addedTokens, areUsable } from "./added-tokens.ts";
import { BertTokenizer } from "./bert-tokenizer.ts";
import { characterTable } from "./character-table.ts";
import { codesOf } from "./codes-of.ts";
import { minimalAutomaton, type Word } from "./minimal-automaton.ts";
import { normalizedCharacter } from "./normalized-character.ts";
import { specialTokens } from "./special-tokens.ts";
import { writePackedFile } from "./write-packed-file.ts";

/** What `createWordPiece` reads; undefined for tokenizers of another kind than `BertTokenizer`. */
export function packWordPiece(json: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(BertTokenizer, json);
  if (!parsed.success) return undefined;
  const { normalizer, model } = parsed.output;
  const vocabulary = new Map(Object.entries(model.vocab));
  const unknown = vocabulary.get(model.unk_token);
  const specials = specialTokens(parsed.output);
  const added = addedTokens(parsed.output, vocabulary);
  const normalized = added.filter(({ normalized }) => normalized);

  const codes = codesOf([
    ...vocabulary.keys(),
    ...normalized.flatMap(({ content }) =>
      Array.from(content).flatMap((each) => normalizedCharacter(normalizer, each).map(([character]) => character)),
    ),
  ]);
  const codesIn = (text: string) => Array.from(text, (character) => codes.get(character) ?? 0);
  const addedCode = codes.size + 1;
  if (unknown === undefined || specials === undefined || addedCode > CODE_MASK) return undefined;

  const singleWords = normalized.some(({ singleWord }) => singleWord);
  const characters = characterTable(normalizer, codes, singleWords);
  const words = Array.from(vocabulary, ([word, id]): Word => ({ codes: codesIn(word), id }));
  const patterns = normalized.map(({ content, id }): Word => {
    const symbols = normalize(characters, content);
    return { codes: [addedCode, ...symbols.map((symbol) => symbol & CODE_MASK)], id };
  });
  if (!areUsable(patterns.map(({ codes }) => codes.slice(1).join()))) return undefined;

  return writePackedFile<WordPieceHeader>(
    {
      kind: "wordpiece",
      unknown,
      longestWord: model.max_input_chars_per_word,
      ...specials,
      continuation: codesIn(model.continuing_subword_prefix),
      addedCode,
      added,
    },
    { ...characters, ...minimalAutomaton([...words, ...patterns]) },
  );
}
