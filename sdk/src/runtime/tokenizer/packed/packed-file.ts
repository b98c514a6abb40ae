import { BertEdgeError } from "../../../artifact/error.ts";
import { parseJson } from "../../../artifact/parse-json.ts";
import { arrayTypes, Header, type Numbers } from "./packed-header.ts";

// A packed tokenizer, little-endian:
//
//     "bert-tok"        8 bytes
//     format            u32
//     header length     u32, bytes
//     header            JSON: kind, settings, and where each section lies
//     sections          arrays of numbers, each at a multiple of a number's bytes, read in place

export const MAGIC = "bert-tok";
/** Raised whenever a reader could misread what a newer writer wrote. */
export const FORMAT = 2;
export const PREAMBLE_BYTES = 16;
/** Of the largest number. */
const ALIGNMENT = Float64Array.BYTES_PER_ELEMENT;

/** The sections of a header, as arrays. */
export type Sections<H extends Header = Header> = H extends Header
  ? { readonly [name in keyof H["sections"]]: H["sections"][name] extends { type: "f64" } ? Float64Array : Numbers }
  : never;
/** A header and its sections, of any kind. */
export type PackedFile<H extends Header = Header> = H extends Header
  ? { readonly kind: H["kind"]; readonly header: H; readonly sections: Sections<H> }
  : never;

const hint = "Run `bert-edge prepare` and `bert-edge publish` again with this version of bert-edge.";

/** What reading a packed tokenizer throws. */
export const invalid = (what: string): BertEdgeError =>
  new BertEdgeError("tokenizer_invalid", `The packed tokenizer ${what}.`, { hint });

/** @throws BertEdgeError `tokenizer_invalid` unless the model has all of these tokens */
export function checkIds(ids: ArrayLike<number>, vocabulary: number): void {
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    if (id >= vocabulary) throw invalid(`has the token ${id}, but the model has ${vocabulary} words`);
  }
}

/**
 * @returns the sections as views of `bytes`, or of a copy where these do not begin at a multiple of ALIGNMENT bytes
 * @throws BertEdgeError `tokenizer_invalid`
 */
export function readPackedFile(bytes: Uint8Array<ArrayBuffer>): PackedFile {
  const aligned = bytes.byteOffset % ALIGNMENT === 0 ? bytes : bytes.slice();
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
  const sections = Object.entries(header.sections).map(([name, { type, offset, length: count }]) => {
    const numbers = arrayTypes[type];
    if (offset < headerEnd || offset + count * numbers.BYTES_PER_ELEMENT > length) {
      throw invalid(`of ${length} bytes has no room for its section ${name}`);
    }
    return [name, new numbers(buffer, byteOffset + offset, count)] as const;
  });
  return { kind: header.kind, header, sections: Object.fromEntries(sections) } as unknown as PackedFile;
}
