import { Buffer } from "node:buffer";
import * as v from "valibot";
import type { Step, UnigramHeader } from "../../../../runtime/tokenizer/packed/packed-header.ts";
import type { Charsmap } from "../../../../runtime/tokenizer/packed/unigram/charsmap.ts";
import { normalized } from "../../../../runtime/tokenizer/packed/unigram/normalized.ts";
import { addedTokens, areUsable } from "../added-tokens.ts";
import { specialTokens } from "../special-tokens.ts";
import { writePackedFile } from "../write-packed-file.ts";
import { charsmapTable, joined } from "./charsmap-table.ts";
import { packPieces } from "./pack-pieces.ts";
import { type CharsmapFile, readCharsmap } from "./read-charsmap.ts";
import { type NormalizerStep, UnigramTokenizer } from "./unigram-tokenizer.ts";

const NOTHING: CharsmapFile = new Map();

/** What `createUnigram` reads; undefined for tokenizers of another kind than `UnigramTokenizer`. */
export function packUnigram(json: object): Uint8Array<ArrayBuffer> | undefined {
  const parsed = v.safeParse(UnigramTokenizer, json);
  if (!parsed.success) return undefined;
  const { normalizer, pre_tokenizer, model } = parsed.output;
  const normalizers = !normalizer ? [] : normalizer.type === "Sequence" ? normalizer.normalizers : [normalizer];
  const [separates, metaspace] =
    pre_tokenizer.type === "Sequence" ? [true, pre_tokenizer.pretokenizers[1]] : [false, pre_tokenizer];
  const specials = specialTokens(parsed.output);
  const charsmap = charsmapOf(normalizers);
  const pieces = packPieces(model);
  if (specials === undefined || charsmap === undefined || pieces === undefined) return undefined;

  const steps = normalizers.map(stepOf);
  const added = addedTokens(parsed.output, pieces.vocabulary, model.vocab.length).map((token) =>
    token.normalized ? { ...token, content: normalized(steps, charsmap, token.content) } : token,
  );
  if (!areUsable(added.filter(({ normalized }) => normalized).map(({ content }) => content))) return undefined;

  const { points, pairs, pairResults, results } = charsmap;
  return writePackedFile<UnigramHeader>(
    {
      kind: "unigram",
      unknown: model.unk_id,
      unknownScore: pieces.unknownScore,
      steps,
      separates,
      prefixSpace: metaspace.prepend_scheme === "always",
      splits: metaspace.split,
      ...specials,
      added,
    },
    { ...points, pairs, pairResults, results: joined(results), ...pieces.sections },
  );
}

/** Of the one charsmap that there may be. */
function charsmapOf(normalizers: readonly NormalizerStep[]): Charsmap | undefined {
  const [map, second] = normalizers.filter((each) => each.type === "Precompiled");
  if (second) return undefined;
  const file = map ? readCharsmap(new Uint8Array(Buffer.from(map.precompiled_charsmap, "base64"))) : NOTHING;
  return file && charsmapTable(file);
}

function stepOf(step: NormalizerStep): Step {
  switch (step.type) {
    case "Precompiled":
      return { type: "map" };
    case "Strip":
      return { type: "strip", left: step.strip_left, right: step.strip_right };
    case "Replace":
      return { type: "collapse", content: step.content };
  }
}
