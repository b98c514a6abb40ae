import { release } from "../files/large-buffers.ts";
import { bytesOf, type StoredBytes } from "../files/stored-file.ts";

/** A part of a file; what is stored is read when it is written. */
export type Chunk = Uint8Array<ArrayBuffer> | StoredBytes;

/** The chunks' bytes, each for as long as the next is not asked for. */
export function* inMemory(chunks: Iterable<Chunk>): Generator<Uint8Array<ArrayBuffer>> {
  for (const chunk of chunks) {
    const bytes = bytesOf(chunk);
    yield bytes;
    if (bytes !== chunk) release(bytes);
  }
}

/**
 * Writes protobuf's wire format (https://protobuf.dev/programming-guides/encoding), as far as ONNX uses it.
 * A message is a list of chunks, so that weights are passed on by reference and never copied.
 */
export class ProtobufWriter {
  readonly #chunks: Chunk[] = [];
  #length = 0;

  /** Field of type int32, int64, uint64 or an enum. Negative numbers take ten bytes, as protobuf demands. */
  integer(field: number, value: number | bigint): this {
    return this.#tag(field, 0).varint(value);
  }

  /** Field of type float. */
  float(field: number, value: number): this {
    return this.#tag(field, 5).fixed32(value);
  }

  /** Field of type double. */
  double(field: number, value: number): this {
    return this.#tag(field, 1).fixed64(value);
  }

  /** Field of type bytes. The bytes are not copied. */
  bytes(field: number, value: Chunk): this {
    return this.#tag(field, 2).varint(value.length).raw(value);
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  /** Field of a message type, or of packed scalars: `write` gets a writer for its content. */
  message(field: number, write: (writer: ProtobufWriter) => void): this {
    const inner = new ProtobufWriter();
    write(inner);
    this.#tag(field, 2).varint(inner.#length);
    for (const chunk of inner.#chunks) this.raw(chunk);
    return this;
  }

  /** An integer without a field, as packed fields hold them. */
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

  /** A float without a field. */
  fixed32(value: number): this {
    return this.raw(new Uint8Array(Float32Array.of(value).buffer));
  }

  /** A double without a field. */
  fixed64(value: number): this {
    return this.raw(new Uint8Array(Float64Array.of(value).buffer));
  }

  /** Bytes that are wire format already. */
  raw(chunk: Chunk): this {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    return this;
  }

  /** Everything written: end to end they are the message. */
  chunks(): readonly Chunk[] {
    return this.#chunks;
  }

  /** Everything written, in one array: the only copy. */
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
