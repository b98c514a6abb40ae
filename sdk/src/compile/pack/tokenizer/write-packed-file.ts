import { FORMAT, MAGIC, PREAMBLE_BYTES } from "../../../runtime/tokenizer/packed/packed-file.ts";
import { ALIGNMENT, type ArrayType, arrayTypes, type Header } from "../../../runtime/tokenizer/packed/packed-header.ts";

/** Writes what `readPackedFile` reads; whole numbers of a section in the fewest bytes that hold its largest. */
export function writePackedFile<H extends Header>(
  settings: Omit<H, "sections">,
  sections: Record<keyof H["sections"] & string, ArrayLike<number>>,
): Uint8Array<ArrayBuffer> {
  const layout = Object.entries<ArrayLike<number>>(sections).map(([name, numbers]) => {
    const type = smallestType(numbers);
    return { name, type, numbers, length: numbers.length, bytes: numbers.length * arrayTypes[type].BYTES_PER_ELEMENT };
  });
  // The header says where sections lie, and is as long as that makes it: more room is found until it fits.
  const headerAt = (first: number) => {
    let offset = first;
    const placed = layout.map((section) => {
      const at = { ...section, offset: align(offset, arrayTypes[section.type].BYTES_PER_ELEMENT) };
      offset = align(at.offset + section.bytes);
      return at;
    });
    const entries = placed.map(({ name, type, offset, length }) => [name, { type, offset, length }]);
    const header = { ...settings, sections: Object.fromEntries(entries) };
    return { placed, json: new TextEncoder().encode(JSON.stringify(header)), end: offset };
  };
  let first = PREAMBLE_BYTES;
  while (headerAt(first).json.length > first - PREAMBLE_BYTES)
    first = align(PREAMBLE_BYTES + headerAt(first).json.length);
  const { placed, json, end } = headerAt(first);

  const file = new Uint8Array(end);
  file.set(new TextEncoder().encode(MAGIC));
  const view = new DataView(file.buffer);
  view.setUint32(8, FORMAT, true);
  view.setUint32(12, json.length, true);
  file.set(json, PREAMBLE_BYTES);
  for (const { type, offset, length, numbers } of placed) {
    new arrayTypes[type](file.buffer, offset, length).set(numbers);
  }
  return file;
}

function align(offset: number, bytes = ALIGNMENT): number {
  const multiple = Math.max(ALIGNMENT, bytes);
  return Math.ceil(offset / multiple) * multiple;
}

function smallestType(numbers: ArrayLike<number>): ArrayType {
  if (numbers instanceof Float64Array) return "f64";
  let largest = 0;
  for (let i = 0; i < numbers.length; i++) largest = Math.max(largest, numbers[i] as number);
  return largest < 2 ** 8 ? "u8" : largest < 2 ** 16 ? "u16" : "u32";
}
