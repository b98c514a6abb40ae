import * as v from "valibot";
import { charactersInto } from "../../../../runtime/tokenizer/packed/bpe/character-units.ts";
import { createUnitMerger } from "../../../../runtime/tokenizer/packed/byte-level/merge-bytes.ts";
import { bytePiece } from "../../../../runtime/tokenizer/packed/byte-pieces.ts";
import { openNormalizer } from "../../../../runtime/tokenizer/packed/normalizers/open-normalizer.ts";
import type { BpeSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { normalizedTokens } from "../added-tokens.ts";
import { mergeTable, openedMerges, wholeTokens } from "../byte-level/merge-table.ts";
import { codePointPages, pagesWith } from "../code-point-pages.ts";
import { decodingOf } from "../decoding.ts";
import { packNormalizers } from "../normalizers/pack-normalizers.ts";
import { breakTable, separatesAtSpaces } from "../word-breaks.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { BpeJson } from "./bpe-json.ts";

const isCharacter = (token: string): boolean => Array.from(token).length === 1;
/** Matches a token with ▁ after another character. A merge to such a token crosses the start of a word. */
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
  const { decoder, model } = parsed.output;
  const vocabulary = new Map(Object.entries(model.vocab));
  const words = wordsOf(parsed.output);
  const specials = specialTokens(parsed.output.post_processor);
  const bytes = model.byte_fallback ? byteTokens(vocabulary) : [];
  const table = bytes && mergeTable(vocabulary, model.merges, bytes);
  const normalizers = packNormalizers(parsed.output.normalizer, [breakTable(words?.breaks ?? [], () => 0)]);
  if (!specials || !table || !normalizers || !words) return undefined;
  const normalize = openNormalizer(normalizers.steps, normalizers.arrays);
  const added = normalizedTokens(parsed.output, vocabulary, normalize);
  if (!added) return undefined;
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
  // Hugging Face's tokenizers do not split at runs of ▁, so their `ignore_merges` looks up other words than these.
  if (words.splits === "runs" && model.ignore_merges && whole.length > 0) return undefined;
  if (words.splits === "runs" && bytes.length === 0 && !vocabulary.has("▁")) return undefined;

  const { breaks, ...split } = words;
  const { byteIds, rightStart, rights, ranks, merged } = table;
  return writePackedFile<BpeSettings>(
    {
      kind: "bpe",
      ...(unknown !== undefined && { unknown }),
      fusesUnknown: model.fuse_unk && bytes.length === 0,
      normalizers: [...normalizers.steps],
      ...split,
      ...(breaks.length > 0 && { parts: { separates: separatesAtSpaces(breaks) } }),
      whole,
      ignoresMerges: model.ignore_merges,
      ...decoder,
      ...specials,
      ...decodingOf(json, config, unknown),
      added,
    },
    {
      ...normalizers.arrays,
      codePageOf: characters.pageOf,
      codePages: characters.pages,
      ...{ byteIds, rightStart, rights, ranks, merged },
    },
  );
}

/**
 * Returns the tokens of the bytes 0 to 255: an empty list if no byte has a token, undefined if only some bytes have one. In Gemma,
 * the character tab replaces its byte token. This works for ASCII, because byte tokens are used only for characters without a token.
 */
function byteTokens(vocabulary: ReadonlyMap<string, number>): string[] | undefined {
  const pieces = Array.from({ length: 256 }, (_, byte) => bytePiece(byte));
  if (!pieces.some((piece) => vocabulary.has(piece))) return [];
  const tokens = pieces.map((piece, byte) =>
    !vocabulary.has(piece) && byte < 0x80 ? String.fromCharCode(byte) : piece,
  );
  return tokens.every((token) => vocabulary.has(token)) ? tokens : undefined;
}

/** Returns the settings that split texts into words; undefined if texts are split at blanks that the normalizer leaves. */
function wordsOf({ normalizer, pre_tokenizer, model }: BpeJson) {
  const step = Array.isArray(pre_tokenizer) ? undefined : pre_tokenizer;
  const breaks = Array.isArray(pre_tokenizer) ? pre_tokenizer : [];
  const metaspace = step?.type === "Metaspace" ? step : undefined;
  const marksBlanks = metaspace !== undefined || lastMarksBlanks(normalizer);
  // Blanks that the normalizer leaves would split texts.
  if (step?.type === "Split" && !marksBlanks) return undefined;
  const crosses = model.merges.some((pair) => CROSSES.test(pair.join("")));
  // Without splits, a text is a single word. If no merge crosses the start of a word, splitting it gives the same tokens faster.
  const splits: BpeSettings["splits"] = metaspace?.split
    ? "each"
    : marksBlanks && breaks.length === 0 && !crosses
      ? "runs"
      : undefined;
  return {
    breaks,
    ...(metaspace && { metaspace: { prefixSpace: metaspace.prepend_scheme === "always" } }),
    ...(splits && { splits }),
  } as const;
}

/** Whether the last normalizer replaces all blanks by ▁. A normalizer that puts ▁ before texts does not count as the last one. */
function lastMarksBlanks(normalizer: BpeJson["normalizer"]): boolean {
  const last = normalizer.findLast((step) => !(step.type === "Prepend" && step.prepend === "▁"));
  if (last?.type !== "Replace" || !("String" in last.pattern)) return false;
  return last.pattern.String === " " && last.content === "▁";
}

/** Returns the id of unknown characters; undefined if the model has none, "unusable" if it cannot be packed. */
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
