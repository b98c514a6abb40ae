import { Buffer } from "node:buffer";
import * as v from "valibot";
import type { UnigramNormalizer, UnigramSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import type { Charsmap } from "../../../../runtime/tokenizer/packed/unigram/charsmap.ts";
import { normalizeText } from "../../../../runtime/tokenizer/packed/unigram/normalize-text.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { addedTokens, areUsable } from "../added-tokens.ts";
import { decodingOf } from "../decoding.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { charsmapTable, joinResults } from "./charsmap-table.ts";
import { type CharsmapEntries, readCharsmap } from "./read-charsmap.ts";
import { type NormalizerJson, UnigramJson } from "./unigram-json.ts";
import { vocabularyTable } from "./vocabulary-table.ts";

const NO_ENTRIES: CharsmapEntries = new Map();

/**
 * Packs a tokenizer.json into the file that `createUnigram` reads.
 *
 * @returns undefined if tokenizer.json is not a `UnigramJson`, or if its tokens or its charsmap cannot be packed
 */
export function packUnigram(json: object, config: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(UnigramJson, json);
  if (!parsed.success) return undefined;
  const { normalizer, pre_tokenizer, model } = parsed.output;
  const normalizersJson = !normalizer ? [] : normalizer.type === "Sequence" ? normalizer.normalizers : [normalizer];
  const [separates, metaspace] =
    pre_tokenizer.type === "Sequence" ? [true, pre_tokenizer.pretokenizers[1]] : [false, pre_tokenizer];
  const specials = specialTokens(parsed.output.post_processor);
  const charsmap = charsmapOf(normalizersJson);
  const table = vocabularyTable(model);
  if (specials === undefined || charsmap === undefined || table === undefined) return undefined;

  const normalizers = normalizersJson.map(packedNormalizer);
  const added = addedTokens(parsed.output, table.vocabulary, model.vocab.length).map((token) =>
    token.normalized ? { ...token, content: normalizeText(normalizers, charsmap, token.content) } : token,
  );
  if (!areUsable(added.filter(({ normalized }) => normalized).map(({ content }) => content))) return undefined;

  const { points, pairs, pairResults, results } = charsmap;
  return writePackedFile<UnigramSettings>(
    {
      kind: "unigram",
      unknown: model.unk_id,
      unknownScore: table.unknownScore,
      normalizers,
      separates,
      prefixSpace: metaspace.prepend_scheme === "always",
      splits: metaspace.split,
      ...specials,
      ...decodingOf(json, config),
      added,
    },
    { ...points, pairs, pairResults, results: joinResults(results), ...table.arrays },
  );
}

/**
 * Builds the charsmap of the normalizers.
 *
 * @returns undefined if there are several charsmaps, or if the charsmap cannot be read
 */
function charsmapOf(normalizers: readonly NormalizerJson[]): Charsmap | undefined {
  const [map, second] = normalizers.filter((each) => each.type === "Precompiled");
  if (second) return undefined;
  const entries = map ? readCharsmap(new Uint8Array(Buffer.from(map.precompiled_charsmap, "base64"))) : NO_ENTRIES;
  return entries && charsmapTable(entries);
}

function packedNormalizer(normalizer: NormalizerJson): UnigramNormalizer {
  switch (normalizer.type) {
    case "Precompiled":
      return { type: "map" };
    case "Strip":
      return { type: "strip", left: normalizer.strip_left, right: normalizer.strip_right };
    case "Replace":
      return { type: "collapse", content: normalizer.content };
  }
}
