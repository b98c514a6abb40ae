import { bytesOf, release, type StoredBytes } from "../files/stored-file.ts";

/** A part of a file. Stored bytes are read when the chunk is written. */
export type Chunk = Uint8Array<ArrayBuffer> | StoredBytes;

/** Loads chunks one at a time. The bytes of a chunk are valid until the next chunk is requested. */
export function* inMemory(chunks: Iterable<Chunk>): Generator<Uint8Array<ArrayBuffer>> {
  for (const chunk of chunks) {
    const bytes = bytesOf(chunk);
    yield bytes;
    if (bytes !== chunk) release(bytes);
  }
}

/**
 * Writes the parts of the protobuf wire format that ONNX uses: https://protobuf.dev/programming-guides/encoding.
 * A message is a list of chunks, so that weights are referenced and never copied.
 */
export class ProtobufWriter {
  readonly #chunks: Chunk[] = [];
  #length = 0;

  /** Writes a field of type int32, int64, uint64 or an enum. Negative numbers take ten bytes, as in protobuf. */
  integer(field: number, value: number | bigint): this {
    return this.#tag(field, 0).varint(value);
  }

  /** Writes a field of type float. */
  float(field: number, value: number): this {
    return this.#tag(field, 5).fixed32(value);
  }

  /** Writes a field of type double. */
  double(field: number, value: number): this {
    return this.#tag(field, 1).fixed64(value);
  }

  /** Writes a field of type bytes. The bytes are not copied. */
  bytes(field: number, value: Chunk): this {
    return this.#tag(field, 2).varint(value.length).raw(value);
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  /** Writes a field with a message or packed scalars. `write` gets a writer for the content of the field. */
  message(field: number, write: (writer: ProtobufWriter) => void): this {
    const inner = new ProtobufWriter();
    write(inner);
    this.#tag(field, 2).varint(inner.#length);
    for (const chunk of inner.#chunks) this.raw(chunk);
    return this;
  }

  /** Writes an integer without a tag, for packed fields. */
  varint(value: number | bigint): this {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 0x7fn) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    return this.raw(Uint8Array.from(bytes));
  }

  /** Writes a float without a tag, for packed fields. */
  fixed32(value: number): this {
    return this.raw(new Uint8Array(Float32Array.of(value).buffer));
  }

  /** Writes a double without a tag, for packed fields. */
  fixed64(value: number): this {
    return this.raw(new Uint8Array(Float64Array.of(value).buffer));
  }

  /** Writes bytes that are already encoded. */
  raw(chunk: Chunk): this {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this;
  }

  /** Returns the message as chunks, in order. */
  chunks(): readonly Chunk[] {
    return this.#chunks;
  }

  /** Returns the message in one array. */
  finish(): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of inMemory(this.#chunks)) {
      all.set(chunk, offset);
      offset += chunk.length;
    }
    return all;
  }

  #tag(field: number, wireType: number): this {
    return this.varint(field * 8 + wireType);
  }
}
