import * as v from "valibot";
import { APART, CLASS_SHIFT, LETTER, NUMBER, SPACE } from "../../../../runtime/tokenizer/packed/byte-level/classes.ts";
import { composed } from "../../../../runtime/tokenizer/packed/byte-level/composed.ts";
import { isWhiteSpace } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import type { ByteLevelHeader } from "../../../../runtime/tokenizer/packed/packed-header.ts";
import { addedTokens, areUsable } from "../added-tokens.ts";
import { classes, combiningClass } from "../code-point-classes.ts";
import { codePointPages } from "../code-point-pages.ts";
import { specialTokens } from "../special-tokens.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { ByteLevelTokenizer } from "./byte-level-tokenizer.ts";
import { mergeTable } from "./merge-table.ts";

/** What `createByteLevel` reads; undefined for tokenizers of another kind than `ByteLevelTokenizer`. */
export function packByteLevel(json: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(ByteLevelTokenizer, json);
  if (!parsed.success) return undefined;
  const { normalizer, pre_tokenizer, model } = parsed.output;
  const vocabulary = new Map(Object.entries(model.vocab));
  const specials = specialTokens(parsed.output);
  const merges = mergeTable(vocabulary, model.merges);
  const points = codePointPages(classOf, true);
  const composes = normalizer?.type === "NFC";
  const added = addedTokens(parsed.output, vocabulary).map((token) =>
    token.normalized && composes ? { ...token, content: composed(points, token.content) } : token,
  );
  const normalized = added.filter(({ normalized }) => normalized).map(({ content }) => content);
  if (specials === undefined || merges === undefined || !areUsable(normalized)) return undefined;

  return writePackedFile<ByteLevelHeader>(
    { kind: "byte-level", ...specials, composes, prefixSpace: pre_tokenizer.add_prefix_space, added },
    { ...points, ...merges },
  );
}

function classOf(point: number): number {
  const character = String.fromCodePoint(point);
  const kind = classes.letters.has(point) ? LETTER : classes.numbers.has(point) ? NUMBER : 0;
  const space = isWhiteSpace(character) ? SPACE : 0;
  if (classes.apart.has(point)) return kind | space | APART;
  // A mark that has a decomposition is told by its first part.
  const part = character.normalize("NFD").codePointAt(0) as number;
  return kind | space | ((combiningClass.get(part) ?? 0) << CLASS_SHIFT);
}
