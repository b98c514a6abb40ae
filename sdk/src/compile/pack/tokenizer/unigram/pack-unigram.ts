import * as v from "valibot";
import type { CodePointTable } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { openNormalizer } from "../../../../runtime/tokenizer/packed/normalizers/open-normalizer.ts";
import type { UnigramSettings } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { specialTokens } from "../../../../runtime/tokenizer/special-tokens.ts";
import { normalizedTokens } from "../added-tokens.ts";
import { classes, pagesWithBorders } from "../code-point-classes.ts";
import { codePointPages } from "../code-point-pages.ts";
import { decodingOf } from "../decoding.ts";
import { packNormalizers } from "../normalizers/pack-normalizers.ts";

import unicode from "../rust-unicode.json" with { type: "json" };
import { writePackedFile } from "../write-packed-file.ts";
import { UnigramJson } from "./unigram-json.ts";
import { vocabularyTable } from "./vocabulary-table.ts";

/**
 * Packs a tokenizer.json into the file that `createUnigram` reads.
 *
 * @returns undefined if tokenizer.json is not a `UnigramJson`, or if its tokens or its normalizers cannot be packed
 */
export function packUnigram(json: object, config: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(UnigramJson, json);
  if (!parsed.success) return undefined;
  const { normalizer, pre_tokenizer, model } = parsed.output;
  const { metaspace, first } = pre_tokenizer;
  const specials = specialTokens(parsed.output.post_processor);
  const normalizers = packNormalizers(normalizer, first === "Punctuation" ? [punctuationTable()] : []);
  const table = vocabularyTable(model);
  if (specials === undefined || normalizers === undefined || table === undefined) return undefined;

  const normalize = openNormalizer(normalizers.steps, normalizers.arrays);
  const added = normalizedTokens(parsed.output, table.vocabulary, normalize, model.vocab.length);
  if (!added) return undefined;

  return writePackedFile<UnigramSettings>(
    {
      kind: "unigram",
      unknown: model.unk_id,
      unknownScore: table.unknownScore,
      normalizers: [...normalizers.steps],
      separates: first === "WhitespaceSplit",
      ...(first === "Punctuation" && { punctuation: 0 }),
      prefixSpace: metaspace.prepend_scheme === "always",
      splits: metaspace.split,
      ...specials,
      ...decodingOf(json, config, model.unk_id),
      added,
    },
    { ...normalizers.arrays, ...table.arrays },
  );
}

/** Builds a table in which punctuation has the number 1, and everything else 0. */
function punctuationTable(): CodePointTable {
  const borders = pagesWithBorders([unicode.sets.punctuation]);
  return codePointPages(
    (point) => Number(classes.punctuation.has(point)),
    (first) => !borders.has(first),
  );
}
