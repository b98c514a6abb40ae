import * as v from "valibot";
import { charactersInto } from "../../../../runtime/tokenizer/packed/bpe/character-units.ts";
import { createUnitMerger } from "../../../../runtime/tokenizer/packed/byte-level/merge-bytes.ts";
import { bytePiece } from "../../../../runtime/tokenizer/packed/byte-pieces.ts";
import type { AddedToken, BpeSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { addedTokens, areUsable } from "../added-tokens.ts";
import { breakTable } from "../byte-level/break-table.ts";
import { openedMerges } from "../byte-level/byte-texts.ts";
import { mergeTable } from "../byte-level/merge-table.ts";
import { codePointPages, pagesWith } from "../code-point-pages.ts";
import { decodingOf } from "../decoding.ts";
import { wholeTokens } from "../whole-tokens.ts";
import { separatesAtSpaces } from "../word-breaks.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { BpeJson } from "./bpe-json.ts";

const bytePieces = Array.from({ length: 256 }, (_, byte) => bytePiece(byte));
const isCharacter = (token: string): boolean => Array.from(token).length === 1;
/** A token with ▁ after another character, so that merges cross the start of a word. */
const CROSSES = /[^▁]▁/;
const MAX_UNITS = 3;

/**
 * Packs a tokenizer.json into the file that `createBpe` reads.
 *
 * @returns undefined if tokenizer.json is not a `BpeJson`, or if its tokens cannot be packed
 */
export function packBpe(json: object, config: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(BpeJson, json);
  if (!parsed.success) return undefined;
  const { normalizer, decoder, model } = parsed.output;
  const vocabulary = new Map(Object.entries(model.vocab));
  const words = wordsOf(parsed.output);
  const specials = specialTokens(parsed.output.post_processor);
  const bytes = model.byte_fallback ? bytePieces.filter((piece) => vocabulary.has(piece)) : [];
  const table = mergeTable(vocabulary, model.merges, bytes);
  const added = addedTokens(parsed.output, vocabulary);
  const normalized = added.filter((token) => token.normalized);
  if (!words || !specials || !table || (bytes.length > 0 && bytes.length < bytePieces.length)) return undefined;
  if (!areUsable(normalized.map(({ content }) => content))) return undefined;
  if (
    (normalizer.marksBlanks || normalizer.prepends > 0) &&
    !normalized.every((each) => isUnchanged(each, normalizer))
  ) {
    return undefined;
  }
  const unknown = unknownOf(parsed.output, vocabulary);
  if (unknown === "unusable" || (unknown === undefined && bytes.length === 0)) return undefined;

  const characters = characterTable(vocabulary);
  const merges = openedMerges(table);
  const merge = createUnitMerger(merges);
  const tokens = { characters, byteIds: merges.byteIds, unknown: unknown ?? 0 };
  const whole = wholeTokens(
    vocabulary,
    (spelling) => spelling,
    (text) => {
      const units = new Uint32Array(MAX_UNITS * text.length);
      const ids: number[] = [];
      merge(units, charactersInto(tokens, text, units).written, ids);
      return ids;
    },
  );
  // Words of Hugging Face's tokenizers are not split at runs of ▁.
  if (words.splits === "runs" && model.ignore_merges && whole.length > 0) return undefined;
  if (words.splits === "runs" && bytes.length === 0 && !vocabulary.has("▁")) return undefined;

  const { breaks, ...split } = words;
  const { byteIds, rightStart, rights, ranks, merged } = table;
  return writePackedFile<BpeSettings>(
    {
      kind: "bpe",
      ...(unknown !== undefined && { unknown }),
      fusesUnknown: model.fuse_unk && bytes.length === 0,
      ...split,
      ...(breaks.length > 0 && { parts: { separates: separatesAtSpaces(breaks) } }),
      whole,
      ignoresMerges: model.ignore_merges,
      ...decoder,
      ...specials,
      ...decodingOf(json, config),
      added,
    },
    {
      ...breakTable(breaks, () => 0),
      codePageOf: characters.pageOf,
      codePages: characters.pages,
      ...{ byteIds, rightStart, rights, ranks, merged },
    },
  );
}

/** Returns how texts are split into words; undefined if merges cross words. */
function wordsOf({ normalizer, pre_tokenizer, model }: BpeJson) {
  const [step] = Array.isArray(pre_tokenizer) || !pre_tokenizer ? [] : [pre_tokenizer];
  const breaks = Array.isArray(pre_tokenizer) ? pre_tokenizer : [];
  const { prepends } = normalizer;
  const marksBlanks = normalizer.marksBlanks || step?.type === "Metaspace";
  const crosses = model.merges.some((pair) => CROSSES.test(pair.join("")));
  if (step?.type === "Split" && !normalizer.marksBlanks) return undefined;
  if ((prepends > 0 || marksBlanks) && breaks.length > 0) return undefined;
  if (step?.type === "Metaspace") {
    if (prepends > 0 || (!step.split && crosses)) return undefined;
    const prefixes = step.prepend_scheme === "always" ? ({ prefixes: "unmarked" } as const) : {};
    return { breaks, marksBlanks, ...prefixes, splits: step.split ? "each" : "runs" } as const;
  }
  if (marksBlanks && crosses) return undefined;
  const prefixes = prepends > 0 ? ({ prefixes: "all" } as const) : {};
  return { breaks, marksBlanks, ...prefixes, ...(marksBlanks && ({ splits: "runs" } as const)) };
}

/** Whether the normalizer leaves an added token as it is, and what is around it. */
const isUnchanged = ({ content, lstrip, rstrip }: AddedToken, { prepends }: BpeJson["normalizer"]): boolean =>
  prepends === 0 && !lstrip && !rstrip && !/[ ▁]/.test(content);

/** Returns the id of unknown characters; undefined if there is none. */
function unknownOf({ model }: BpeJson, vocabulary: ReadonlyMap<string, number>): number | undefined | "unusable" {
  const { unk_token: token } = model;
  if (token === null || token === undefined) return undefined;
  const isMerged = model.merges.some((pair) => [...pair, pair.join("")].includes(token));
  return isMerged || isCharacter(token) ? "unusable" : (vocabulary.get(token) ?? "unusable");
}

/** Returns the table with the id of each character that is a token. */
function characterTable(vocabulary: ReadonlyMap<string, number>) {
  const ids = new Map(
    [...vocabulary].flatMap(([token, id]) => (isCharacter(token) ? [[token.codePointAt(0) as number, id]] : [])),
  );
  const pages = pagesWith(ids.keys());
  return codePointPages(
    (point) => (ids.get(point) ?? -1) + 1,
    (first) => !pages.has(first),
  );
}
