import { Buffer } from "node:buffer";
import * as v from "valibot";
import { type CodePointTable, PAGE_BITS } from "../../../../runtime/tokenizer/packed/code-points.ts";
import { type NormalizerArrays, SEPARATOR } from "../../../../runtime/tokenizer/packed/normalizers/charsmap.ts";
import type { NormalizerStep } from "../../../../runtime/tokenizer/packed/packed-settings.ts";
import { codePointSet } from "../code-point-classes.ts";
import { type CharacterMap, charsmapTable, createResults, eachTable, readCharsmap } from "./charsmap-table.ts";
import { formFlags } from "./form-flags.ts";
import rust from "./rust-normalizers.json" with { type: "json" };

const Text = v.pipe(v.string(), v.minLength(1));

/** Regular expressions of Replace that can be packed. Other expressions may match other texts in JavaScript than in Rust. */
const BLANKS_REGEX = " {2,}";
const SPACES_REGEX = String.raw`\s{2,}|[\n\r\t]`;

const SingleNormalizer = v.variant("type", [
  v.object({ type: v.literal("Precompiled"), precompiled_charsmap: v.pipe(v.string(), v.base64()) }),
  v.object({ type: v.literal("Strip"), strip_left: v.boolean(), strip_right: v.boolean() }),
  v.object({
    type: v.literal("Replace"),
    pattern: v.union([
      v.strictObject({ Regex: v.picklist([BLANKS_REGEX, SPACES_REGEX]) }),
      v.strictObject({ String: Text }),
    ]),
    content: v.string(),
  }),
  v.object({ type: v.literal("Prepend"), prepend: Text }),
  v.object({ type: v.picklist(["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"]) }),
]);

/** Schema of the normalizers of tokenizer.json that can be packed. The output is a list. */
export const NormalizerJson = v.pipe(
  v.nullish(
    v.variant("type", [
      ...SingleNormalizer.options,
      v.object({ type: v.literal("Sequence"), normalizers: v.array(SingleNormalizer) }),
    ]),
    { type: "Sequence", normalizers: [] },
  ),
  v.transform((given) => (given.type === "Sequence" ? given.normalizers : [given])),
);

export type NormalizerJson = v.InferOutput<typeof SingleNormalizer>;

/** Normalizers as `openNormalizer` reads them. */
interface PackedNormalizers {
  readonly steps: readonly NormalizerStep[];
  readonly arrays: NormalizerArrays;
}

const NO_PAIRS = { pairs: new Uint32Array(), pairResults: new Uint32Array() };

/**
 * Packs the normalizers of a tokenizer.json. Neighbouring normalizers that change single characters become one step.
 *
 * @param others tables that other parts of the tokenizer read; they come first in `pageOf`
 * @returns undefined if there are several charsmaps, or if the charsmap cannot be read
 */
export function packNormalizers(
  normalizers: readonly NormalizerJson[],
  others: readonly CodePointTable[] = [],
): PackedNormalizers | undefined {
  const charsmaps = normalizers.filter(({ type }) => type === "Precompiled").length;
  const results = createResults();
  const tables = [...others];
  const steps: NormalizerStep[] = [];
  let pairs: Pick<NormalizerArrays, "pairs" | "pairResults"> = NO_PAIRS;
  let each: CharacterMap | undefined;
  const add = (table: CodePointTable): number => tables.push(table) - 1;
  const endEach = (): void => {
    if (each) steps.push({ type: "each", table: add(eachTable(each, results)) });
    each = undefined;
  };

  for (const normalizer of normalizers) {
    const map = characterMapOf(normalizer);
    if (map) {
      each = joined(each, map);
      continue;
    }
    endEach();
    if (normalizer.type === "Precompiled") {
      const entries = readCharsmap(new Uint8Array(Buffer.from(normalizer.precompiled_charsmap, "base64")));
      if (!entries || charsmaps > 1) return undefined;
      const { points, ...found } = charsmapTable(entries, results);
      pairs = found;
      steps.push({ type: "map", table: add(points) });
    } else steps.push(stepOf(normalizer, add));
  }
  endEach();
  const joinedResults = new TextEncoder().encode(results.texts.join(SEPARATOR));
  return { steps, arrays: { ...joinTables(tables), ...pairs, results: joinedResults } };
}

const marks = codePointSet(rust.sets.marks);

// Characters that Nmt removes, and those that it replaces with a blank:
// https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/normalizers/unicode.rs
const removed = codePointSet("1-8 b e-1f 7f 8f 9f");
const blank = codePointSet("9-a c-d 1680 200b-200f 2028-2029 2581 feff fffd");

const pointOf = (character: string): number => character.codePointAt(0) as number;

/** Maps of the normalizers that change one character at a time. */
const characterMaps: Partial<Record<NormalizerJson["type"], CharacterMap>> = {
  Lowercase: (character) => character.toLowerCase(),
  StripAccents: (character) => (marks.has(pointOf(character)) ? "" : character),
  Nmt: (character) => (removed.has(pointOf(character)) ? "" : blank.has(pointOf(character)) ? " " : character),
};

/** Returns the map of a normalizer; undefined if it reads more than one character at a time. */
const characterMapOf = ({ type }: NormalizerJson): CharacterMap | undefined => characterMaps[type];

function joined(first: CharacterMap | undefined, second: CharacterMap): CharacterMap {
  if (!first) return second;
  return (character) => {
    const between = first(character);
    return between === character ? second(between) : Array.from(between, second).join("");
  };
}

function stepOf(normalizer: NormalizerJson, addTable: (table: CodePointTable) => number): NormalizerStep {
  switch (normalizer.type) {
    case "Strip":
      return { type: "strip", left: normalizer.strip_left, right: normalizer.strip_right };
    case "Replace": {
      const { pattern, content } = normalizer;
      if ("String" in pattern) return { type: "replace", from: pattern.String, content };
      return { type: pattern.Regex === BLANKS_REGEX ? "collapse" : "spaces", content };
    }
    case "Prepend":
      return { type: "prepend", content: normalizer.prepend };
    case "NFC":
    case "NFD":
    case "NFKC":
    case "NFKD":
      return { type: "form", form: normalizer.type, table: addTable(formFlags(normalizer.type)) };
    default:
      throw new TypeError(`The normalizer ${normalizer.type} cannot be packed as a separate step.`);
  }
}

/** Joins tables. The pages of each table come after the pages of the tables before it. */
function joinTables(tables: readonly CodePointTable[]): Pick<NormalizerArrays, "pageOf" | "pages"> {
  const pageOf: number[] = [];
  const pages: number[] = [];
  for (const table of tables) {
    const before = pages.length >> PAGE_BITS;
    for (const page of table.pageOf) pageOf.push(before + page);
    for (const number of table.pages) pages.push(number);
  }
  return { pageOf: Uint32Array.from(pageOf), pages: Uint32Array.from(pages) };
}
