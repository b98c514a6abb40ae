// Reads and writes safetensors files, the container of checkpoints, engine models and packed tokenizers:
//
//     header length     u64, little-endian
//     header            JSON: dtype, shape and byte range of each tensor by name, and text under "__metadata__"
//     tensors           little-endian, end to end
//
// https://github.com/huggingface/safetensors#format

/** Number of bytes of the field that holds the header's length. */
export const LENGTH_BYTES = 8;
/**
 * Maximum bytes of the header, as in the Rust library:
 * https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs
 */
const MAX_HEADER_BYTES = 100_000_000;
const METADATA = "__metadata__";
const SPACE = 0x20;

/** Bytes per element, by the format's type names. */
export const dtypeBytes = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
} as const;
export type Dtype = keyof typeof dtypeBytes;

/** Default alignment of the first tensor in bytes: the size of the widest type of number. */
const ALIGNMENT = 8;

/** Describes a tensor in a file. */
export interface StoredTensor {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  /** Offset of the first byte in the file. */
  readonly begin: number;
  /** Offset after the last byte in the file. */
  readonly end: number;
}

/** A file's header, checked. */
export interface SafetensorsHeader {
  readonly metadata: ReadonlyMap<string, string>;
  readonly tensors: ReadonlyMap<string, StoredTensor>;
}

/** Bytes in memory, or a file on disk that is read in parts. */
export interface ByteSource {
  readonly length: number;
  subarray(begin: number, end: number): Uint8Array;
}

/** Makes the error for a fault such as "its header is not a JSON object". */
export type MakeError = (fault: string, cause?: unknown) => Error;

/**
 * Returns the offset of the header's end, where tensors begin. Reads only the first `LENGTH_BYTES` bytes.
 *
 * @throws the error that `refuse` makes, when the file is shorter than its header
 */
export function headerEnd(file: ByteSource, refuse: MakeError): number {
  if (file.length < LENGTH_BYTES) throw refuse("it is shorter than its header");
  const { buffer, byteOffset } = file.subarray(0, LENGTH_BYTES);
  const headerBytes = Number(new DataView(buffer, byteOffset).getBigUint64(0, true));
  if (headerBytes > MAX_HEADER_BYTES || LENGTH_BYTES + headerBytes > file.length) {
    throw refuse(`its header claims ${headerBytes} bytes, and the file has ${file.length}`);
  }
  return LENGTH_BYTES + headerBytes;
}

/**
 * Reads and checks the header. Does not read the tensors, which may not have arrived yet.
 *
 * @throws the error that `refuse` makes, when the header is damaged, or when its tensors overlap, leave a gap or do not
 *   end where the file ends
 */
export function readSafetensors(file: ByteSource, refuse: MakeError): SafetensorsHeader {
  const start = headerEnd(file, refuse);
  const entries = new Map<string, unknown>(Object.entries(parseHeader(file.subarray(LENGTH_BYTES, start), refuse)));
  const metadata = checkMetadata(entries.get(METADATA) ?? {}, refuse);
  entries.delete(METADATA);
  const tensors = new Map<string, StoredTensor>();
  for (const [name, value] of entries) tensors.set(name, checkTensor(name, value, start, file.length, refuse));
  checkCoverage(tensors, start, file.length, refuse);
  return { metadata, tensors };
}

function parseHeader(bytes: Uint8Array, refuse: MakeError): object {
  try {
    // TextDecoder does not accept the shared memory of WebAssembly threads, so it gets a copy.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.slice());
    if (text.startsWith("{")) return JSON.parse(text);
  } catch (cause) {
    throw refuse("its header is not JSON", cause);
  }
  throw refuse("its header is not a JSON object");
}

function checkMetadata(value: unknown, refuse: MakeError): ReadonlyMap<string, string> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject || Object.values(value).some((text) => typeof text !== "string")) {
    throw refuse("its metadata is not an object of texts");
  }
  return new Map(Object.entries(value));
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isSizes = (value: unknown): value is number[] => Array.isArray(value) && value.every(isSize);

function checkTensor(name: string, value: unknown, start: number, fileLength: number, refuse: MakeError): StoredTensor {
  const { dtype, shape, data_offsets: range } = Object(value) as Record<string, unknown>;
  if (typeof dtype !== "string" || !isSizes(shape) || !isSizes(range) || range.length !== 2) {
    throw refuse(`tensor ${name} is not described as dtype, shape and data_offsets`);
  }
  if (!Object.hasOwn(dtypeBytes, dtype)) throw refuse(`tensor ${name} has the unknown type ${dtype}`);
  const [begin, end] = range.map((offset) => start + offset) as [number, number];
  if (begin > end || end > fileLength) throw refuse(`tensor ${name} lies outside the file`);
  if (end - begin !== sizeOf(dtype as Dtype, shape))
    throw refuse(`tensor ${name} is ${dtype}[${shape}] but has ${end - begin} bytes`);
  return { dtype: dtype as Dtype, shape, begin, end };
}

/**
 * Refuses gaps, as other readers do. This also refuses most headers that contain a name twice: JSON.parse keeps only
 * the last tensor of that name, so the first one leaves a gap.
 */
function checkCoverage(tensors: SafetensorsHeader["tensors"], start: number, fileLength: number, refuse: MakeError) {
  let covered = start;
  for (const [name, { begin, end }] of [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end)) {
    if (begin < covered) throw refuse(`tensor ${name} overlaps another`);
    if (begin > covered) throw refuse(`there is a gap before tensor ${name}`);
    covered = end;
  }
  if (covered !== fileLength) throw refuse(`${fileLength - covered} bytes follow the last tensor`);
}

/** Type and shape of a tensor to write. */
interface TensorShape {
  readonly dtype: Dtype;
  readonly shape: readonly number[];
}

/** A tensor to write: little-endian elements, row-major. */
export interface TensorToWrite extends TensorShape {
  readonly data: Uint8Array;
}

interface HeaderOptions {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Alignment of the first tensor in bytes. The header is padded with spaces. */
  readonly alignment?: number;
}

/**
 * Writes the part of a file before its tensors, which follow in the given order, without gaps. Only the first tensor is aligned.
 *
 * @returns the bytes of this part, and the size of the whole file
 * @throws RangeError when a tensor is called `__metadata__`
 */
export function writeHeader(
  tensors: Iterable<readonly [name: string, tensor: TensorShape]>,
  { metadata, alignment = ALIGNMENT }: HeaderOptions = {},
): { readonly header: Uint8Array<ArrayBuffer>; readonly fileBytes: number } {
  let bodyBytes = 0;
  const entries = [...tensors].map(([name, { dtype, shape }]) => {
    if (name === METADATA) throw new RangeError(`Cannot write tensor ${name}: the name is taken`);
    const begin = bodyBytes;
    bodyBytes += sizeOf(dtype, shape);
    return [name, { dtype, shape, data_offsets: [begin, bodyBytes] }] as const;
  });
  // Object.fromEntries keeps a tensor called __proto__, which an assignment would lose.
  const described = Object.fromEntries<object>(metadata ? [[METADATA, metadata], ...entries] : entries);
  const json = new TextEncoder().encode(JSON.stringify(described));
  const start = Math.ceil((LENGTH_BYTES + json.length) / alignment) * alignment;
  const header = new Uint8Array(start).fill(SPACE);
  new DataView(header.buffer).setBigUint64(0, BigInt(start - LENGTH_BYTES), true);
  header.set(json, LENGTH_BYTES);
  return { header, fileBytes: start + bodyBytes };
}

/**
 * Writes a file: what `writeHeader` writes, and the tensors.
 *
 * @throws RangeError when a tensor is called `__metadata__`, or when its data does not have the size of dtype and shape
 */
export function writeSafetensors(
  tensors: Iterable<readonly [name: string, tensor: TensorToWrite]>,
  options: HeaderOptions = {},
): Uint8Array<ArrayBuffer> {
  const ordered = [...tensors];
  for (const [name, { dtype, shape, data }] of ordered) {
    if (data.length !== sizeOf(dtype, shape)) {
      throw new RangeError(`Cannot write tensor ${name}: ${dtype}[${shape}] with ${data.length} bytes`);
    }
  }
  const { header, fileBytes } = writeHeader(ordered, options);
  const file = new Uint8Array(fileBytes);
  file.set(header);
  let at = header.length;
  for (const [, { data }] of ordered) {
    file.set(data, at);
    at += data.length;
  }
  return file;
}

const sizeOf = (dtype: Dtype, shape: readonly number[]): number =>
  shape.reduce((product, size) => product * size, dtypeBytes[dtype]);
