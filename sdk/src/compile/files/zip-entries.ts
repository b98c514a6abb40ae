// The zip format: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT. PyTorch's archives are zip64 at any size.
import type { FileFaults, StoredFile } from "./stored-file.ts";

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  /** Form of the file's bytes, such as "compressed"; undefined if they are stored as they are. */
  readonly disguise: "compressed" | "encrypted" | undefined;
  /** Size in the archive in bytes. */
  readonly size: number;
  /** Offset of the local header, which the bytes follow. */
  readonly header: number;
}

/** Signatures of the records, and their sizes in bytes without names and comments. */
const LOCAL = { signature: 0x04034b50, size: 30 };
const CENTRAL = { signature: 0x02014b50, size: 46 };
const END = { signature: 0x06054b50, size: 22 };
const END64 = { signature: 0x06064b50, size: 56 };
const LOCATOR64 = { signature: 0x07064b50, size: 20 };

const MAX_COMMENT_BYTES = 0xffff;

/** Maximum size of the central directory: 150,000 entries with short names. A model has one entry for each tensor. */
const MAX_DIRECTORY_BYTES = 2 ** 24;

/** Values of 32-bit and 16-bit fields whose real value is in a zip64 field. */
const [IN_ZIP64, IN_ZIP64_SHORT] = [0xffff_ffff, 0xffff];

/** Id of the zip64 extra field. */
const ZIP64_FIELD = 1;

const ENCRYPTED = 1;

/**
 * Lists the entries of a zip archive by name. Reads only the archive's directory.
 *
 * @throws the error that `faults` makes, for a damaged archive
 */
export function zipEntries(file: StoredFile, faults: FileFaults): Map<string, ZipEntry> {
  const { begin, end, count } = directoryOf(file, faults);
  const bytes = file.subarray(begin, end);
  const entries = new Map<string, ZipEntry>();
  let at = 0;
  for (let i = 0; i < count; i++) {
    const { entry, next } = entryAt(bytes, at, faults);
    if (entries.has(entry.name)) throw faults.invalid(`it has two entries ${entry.name}`);
    entries.set(entry.name, entry);
    at = next;
  }
  if (at !== bytes.length) throw faults.invalid("its directory has another size than its entries");
  return entries;
}

/**
 * Returns where the bytes of an entry begin and end.
 *
 * @throws the error that `faults` makes, when the entry lies outside the file, or is compressed or encrypted
 */
export function entryRange(file: StoredFile, entry: ZipEntry, faults: FileFaults): { begin: number; end: number } {
  const { name, disguise, size, header } = entry;
  if (disguise) throw faults.unsupported(`is ${disguise} (entry ${name})`);
  if (header + LOCAL.size > file.length) throw faults.invalid(`entry ${name} lies outside the file`);
  const view = viewOf(file.subarray(header, header + LOCAL.size));
  if (view.getUint32(0, true) !== LOCAL.signature) throw faults.invalid(`entry ${name} has no header`);
  const begin = header + LOCAL.size + view.getUint16(26, true) + view.getUint16(28, true);
  if (begin + size > file.length) throw faults.invalid(`entry ${name} lies outside the file`);
  return { begin, end: begin + size };
}

/** Returns where the directory begins and ends, and its number of entries. */
function directoryOf(file: StoredFile, faults: FileFaults): { begin: number; end: number; count: number } {
  const tailBegin = Math.max(0, file.length - END.size - MAX_COMMENT_BYTES);
  const tail = viewOf(file.subarray(tailBegin, file.length));
  const at = endRecord(tail);
  if (at === undefined) throw faults.invalid("it is not a zip archive, or its end is missing");
  const short = {
    count: tail.getUint16(at + 10, true),
    size: tail.getUint32(at + 12, true),
    begin: tail.getUint32(at + 16, true),
  };
  const { count, size, begin } = directory64(file, tailBegin + at, faults) ?? short;
  const agrees =
    [count, IN_ZIP64_SHORT].includes(short.count) &&
    [size, IN_ZIP64].includes(short.size) &&
    [begin, IN_ZIP64].includes(short.begin);
  if (!agrees) throw faults.invalid("its two end records contradict each other");
  if (begin + size > tailBegin + at) throw faults.invalid("its directory lies outside the file");
  if (size > MAX_DIRECTORY_BYTES) throw faults.invalid(`its directory claims ${size} bytes`);
  return { begin, end: begin + size, count };
}

/** Finds the last record of the archive, which a comment may follow. */
function endRecord(tail: DataView): number | undefined {
  for (let at = tail.byteLength - END.size; at >= 0; at--) {
    const isEnd = tail.getUint32(at, true) === END.signature;
    if (isEnd && at + END.size + tail.getUint16(at + 20, true) === tail.byteLength) return at;
  }
  return undefined;
}

/** Reads the zip64 record in front of the last record, if there is one. */
function directory64(file: StoredFile, end: number, faults: FileFaults) {
  const locatorAt = end - LOCATOR64.size;
  if (locatorAt < 0) return undefined;
  const locator = viewOf(file.subarray(locatorAt, end));
  if (locator.getUint32(0, true) !== LOCATOR64.signature) return undefined;
  const at = uint64(locator, 8);
  if (at + END64.size > locatorAt) throw faults.invalid("its zip64 record lies outside the file");
  const record = viewOf(file.subarray(at, at + END64.size));
  if (record.getUint32(0, true) !== END64.signature) throw faults.invalid("its zip64 record is missing");
  return { count: uint64(record, 32), size: uint64(record, 40), begin: uint64(record, 48) };
}

function entryAt(bytes: Uint8Array, at: number, faults: FileFaults): { entry: ZipEntry; next: number } {
  const cutOff = () => faults.invalid("its directory is cut off");
  if (at + CENTRAL.size > bytes.length) throw cutOff();
  const view = viewOf(bytes.subarray(at));
  if (view.getUint32(0, true) !== CENTRAL.signature) throw faults.invalid("its directory is damaged");
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => view.getUint16(offset, true));
  const nameEnd = at + CENTRAL.size + (nameBytes as number);
  const extraEnd = nameEnd + (extraBytes as number);
  const next = extraEnd + (commentBytes as number);
  if (next > bytes.length) throw cutOff();
  const name = textOf(bytes.subarray(at + CENTRAL.size, nameEnd), faults);
  const wide = [24, 20, 42].map((offset) => view.getUint32(offset, true));
  const [size, stored, header] = widened(wide, bytes.subarray(nameEnd, extraEnd), name, faults);
  const isEncrypted = view.getUint16(8, true) & ENCRYPTED;
  const isCompressed = view.getUint16(10, true) !== 0;
  const disguise = isEncrypted ? "encrypted" : isCompressed ? "compressed" : undefined;
  if (!disguise && size !== stored) throw faults.invalid(`entry ${name} has two sizes`);
  return { entry: { name, disguise, size: stored as number, header: header as number }, next };
}

/** Replaces the value `IN_ZIP64` by the number of the zip64 field, which has such numbers in the same order. */
function widened(numbers: readonly number[], extra: Uint8Array, name: string, faults: FileFaults): number[] {
  if (!numbers.includes(IN_ZIP64)) return [...numbers];
  const field = zip64Field(extra);
  let at = 0;
  return numbers.map((number) => {
    if (number !== IN_ZIP64) return number;
    if (field === undefined || at + 8 > field.byteLength) throw faults.invalid(`entry ${name} has no zip64 field`);
    at += 8;
    return uint64(field, at - 8);
  });
}

/** Finds the zip64 field among an entry's extra fields: id, size, content. */
function zip64Field(extra: Uint8Array): DataView | undefined {
  const view = viewOf(extra);
  for (let at = 0; at + 4 <= extra.length; ) {
    const [id, begin, end] = [view.getUint16(at, true), at + 4, at + 4 + view.getUint16(at + 2, true)];
    if (end > extra.length) return undefined;
    if (id === ZIP64_FIELD) return viewOf(extra.subarray(begin, end));
    at = end;
  }
  return undefined;
}

function textOf(bytes: Uint8Array, faults: FileFaults): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw faults.invalid("it has an entry whose name is not UTF-8", cause);
  }
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Returns a 64-bit number, rounded above 2⁵³. No file is that long, so such an offset is refused. */
const uint64 = (view: DataView, at: number): number => Number(view.getBigUint64(at, true));
