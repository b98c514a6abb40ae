import * as v from "valibot";
import { IS_LETTER, IS_NUMBER, IS_SPACE } from "../../../../runtime/tokenizer/packed/byte-level/code-point-flags.ts";
import { isWhiteSpace } from "../../../../runtime/tokenizer/packed/character-classes.ts";
import { openNormalizer } from "../../../../runtime/tokenizer/packed/normalizers/open-normalizer.ts";
import type { ByteLevelSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { normalizedTokens } from "../added-tokens.ts";
import { classes } from "../code-point-classes.ts";
import { decodingOf } from "../decoding.ts";
import { packNormalizers } from "../normalizers/pack-normalizers.ts";
import { breakTable, separatesAtSpaces } from "../word-breaks.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { ByteLevelJson, trimmingOf } from "./byte-level-json.ts";
import { byteMergerOf, mergeTable, textOfBytes, wholeTokens } from "./merge-table.ts";

/**
 * Packs a tokenizer.json into the file that `createByteLevel` reads.
 *
 * @returns undefined if tokenizer.json is not a `ByteLevelJson`, or if its tokens cannot be packed
 */
export function packByteLevel(json: object, config: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(ByteLevelJson, json);
  if (!parsed.success) return undefined;
  const { normalizer, pre_tokenizer, model } = parsed.output;
  const vocabulary = new Map(Object.entries(model.vocab));
  const specials = specialTokens(parsed.output.post_processor);
  const merges = mergeTable(vocabulary, model.merges);
  const { breaks, pattern, prefixSpace } = pre_tokenizer;
  const trimming = trimmingOf(json);
  const normalizers = packNormalizers(normalizer, [breakTable(breaks, flagsOf)]);
  if (specials === undefined || merges === undefined || normalizers === undefined) return undefined;
  const normalize = openNormalizer(normalizers.steps, normalizers.arrays);
  const added = normalizedTokens(parsed.output, vocabulary, normalize);
  if (!added) return undefined;

  return writePackedFile<ByteLevelSettings>(
    {
      kind: "byte-level",
      ...specials,
      ...decodingOf(json, config),
      normalizers: [...normalizers.steps],
      ...(pattern && { pattern }),
      ...(breaks.length > 0 && { parts: { separates: separatesAtSpaces(breaks) } }),
      whole: model.ignore_merges ? wholeTokens(vocabulary, textOfBytes, byteMergerOf(merges)) : [],
      prefixSpace,
      trimsOffsets: trimming !== undefined,
      ...(trimming && { trimKeepsSpace: trimming.add_prefix_space }),
      added,
    },
    { ...normalizers.arrays, ...merges },
  );
}

function flagsOf(point: number): number {
  const character = String.fromCodePoint(point);
  const kind = classes.letters.has(point) ? IS_LETTER : classes.numbers.has(point) ? IS_NUMBER : 0;
  return kind | (isWhiteSpace(character) ? IS_SPACE : 0);
}
