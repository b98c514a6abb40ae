import {
  type ArrayType,
  arrayTypes,
  FORMAT,
  type Header,
  MAGIC,
  PREAMBLE_BYTES,
  type SectionName,
  sectionNames,
} from "../../../runtime/tokenizer/packed/packed-file.ts";

/** Writes what `readPackedFile` reads; numbers of a section in the fewest bytes that hold its largest. */
export function writePackedFile(
  settings: Omit<Header, "sections">,
  sections: Record<SectionName, ArrayLike<number>>,
): Uint8Array<ArrayBuffer> {
  const layout = sectionNames.map((name) => {
    const type = smallestType(sections[name]);
    return {
      name,
      type,
      length: sections[name].length,
      bytes: sections[name].length * arrayTypes[type].BYTES_PER_ELEMENT,
    };
  });
  // The header says where sections lie, and is as long as that makes it: more room is found until it fits.
  const headerAt = (first: number) => {
    let offset = first;
    const entries = layout.map(({ name, type, length, bytes }) => {
      const entry = [name, { type, offset, length }] as const;
      offset = align(offset + bytes);
      return entry;
    });
    const header = { ...settings, sections: Object.fromEntries(entries) as Header["sections"] };
    return { header, json: new TextEncoder().encode(JSON.stringify(header)), end: offset };
  };
  let first = PREAMBLE_BYTES;
  while (headerAt(first).json.length > first - PREAMBLE_BYTES)
    first = align(PREAMBLE_BYTES + headerAt(first).json.length);
  const { header, json, end } = headerAt(first);

  const file = new Uint8Array(end);
  file.set(new TextEncoder().encode(MAGIC));
  const view = new DataView(file.buffer);
  view.setUint32(8, FORMAT, true);
  view.setUint32(12, json.length, true);
  file.set(json, PREAMBLE_BYTES);
  for (const name of sectionNames) {
    const { type, offset, length } = header.sections[name];
    new arrayTypes[type](file.buffer, offset, length).set(sections[name]);
  }
  return file;
}

const align = (offset: number): number => Math.ceil(offset / 4) * 4;

function smallestType(numbers: ArrayLike<number>): ArrayType {
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) largest = Math.max(largest, numbers[i] as number);
  return largest < 2 ** 8 ? "u8" : largest < 2 ** 16 ? "u16" : "u32";
}
