import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { parseJson } from "../../../artifact/parse-json.ts";

// A packed tokenizer, little-endian:
//
//     "bert-tok"        8 bytes
//     format            u32
//     header length     u32, bytes
//     header            JSON: settings, and where each section lies
//     sections          arrays of whole numbers, each at a multiple of 4 bytes, read in place

export const MAGIC = "bert-tok";
/** Raised whenever a reader could misread what a newer writer wrote. */
export const FORMAT = 1;
export const PREAMBLE_BYTES = 16;

/** Names of the sections; `automaton.ts` and `characters.ts` say what they hold. */
export const sectionNames = [
  "pageOf",
  "pages",
  "resultStart",
  "symbols",
  "edgeStart",
  "labels",
  "targets",
  "accepts",
  "ids",
] as const;
export type SectionName = (typeof sectionNames)[number];

export const arrayTypes = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array } as const;
export type ArrayType = keyof typeof arrayTypes;
export type Numbers = InstanceType<(typeof arrayTypes)[ArrayType]>;
export type Sections = Record<SectionName, Numbers>;

const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const Section = v.object({
  type: v.picklist(["u8", "u16", "u32"]),
  offset: v.pipe(Whole, v.multipleOf(4)),
  length: Whole,
});

/** A token that is found in the text before words are: `normalized` ones in the normalised text. */
const AddedToken = v.object({
  id: Whole,
  content: v.pipe(v.string(), v.minLength(1)),
  normalized: v.boolean(),
  singleWord: v.boolean(),
  lstrip: v.boolean(),
  rstrip: v.boolean(),
});

const Header = v.object({
  kind: v.literal("wordpiece"),
  /** Id of words that cannot be split into tokens. */
  unknown: Whole,
  /** Characters of the longest word that is split, after normalisation. */
  longestWord: Whole,
  /** Ids before and after every text. */
  prefix: v.array(Whole),
  suffix: v.array(Whole),
  /** Codes in front of tokens that do not begin a word: those of ##. */
  continuation: v.array(Whole),
  /** The code in front of normalised added tokens; no character has it. */
  addedCode: Whole,
  added: v.array(AddedToken),
  sections: v.object(v.entriesFromList(sectionNames, Section)),
});

export type AddedToken = v.InferOutput<typeof AddedToken>;
export type Header = v.InferOutput<typeof Header>;

const hint = "Run `bert-edge prepare` and `bert-edge publish` again with this version of bert-edge.";

/** What reading a packed tokenizer throws. */
export const invalid = (what: string): BertEdgeError =>
  new BertEdgeError("tokenizer_invalid", `The packed tokenizer ${what}.`, { hint });

/**
 * @returns the sections as views of `bytes`, or of a copy where these do not begin at a multiple of 4 bytes
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function readPackedFile(bytes: Uint8Array<ArrayBuffer>): { header: Header; sections: Sections } {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, length } = aligned;
  const magic = new TextDecoder().decode(aligned.subarray(0, MAGIC.length));
  if (length < PREAMBLE_BYTES || magic !== MAGIC) throw invalid("does not begin as one");
  const view = new DataView(buffer, byteOffset);
  const format = view.getUint32(8, true);
  if (format !== FORMAT) throw invalid(`has the format ${format}; this version reads ${FORMAT}`);
  const headerEnd = PREAMBLE_BYTES + view.getUint32(12, true);
  if (headerEnd > length) throw invalid(`ends at byte ${length}, inside its header`);
  const header = parseJson(Header, new TextDecoder().decode(aligned.subarray(PREAMBLE_BYTES, headerEnd)), {
    code: "tokenizer_invalid",
    what: "packed tokenizer's header",
    hint,
  });
  const section = (name: SectionName): [SectionName, Numbers] => {
    const { type, offset, length: count } = header.sections[name];
    const numbers = arrayTypes[type];
    if (offset < headerEnd || offset + count * numbers.BYTES_PER_ELEMENT > length) {
      throw invalid(`of ${length} bytes has no room for its section ${name}`);
    }
    return [name, new numbers(buffer, byteOffset + offset, count)];
  };
  return { header, sections: Object.fromEntries(sectionNames.map(section)) as Sections };
}
