import { BertEdgeError } from "../../artifact/error.ts";

/** Wire types of https://protobuf.dev/programming-guides/encoding; groups (3, 4) are long gone and refused. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

/** Reads protobuf's wire format from `bytes`. What it returns as bytes are views, never copies. */
export class ProtobufReader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView<ArrayBuffer>;
  #position = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get position(): number {
    return this.#position;
  }

  get done(): boolean {
    return this.#position >= this.#bytes.length;
  }

  /** The next field's number and wire type. */
  tag(): { field: number; wireType: number } {
    const tag = Number(this.varint());
    const field = Math.floor(tag / 8);
    if (field === 0 || field > 0x1fff_ffff) throw invalid(`field number ${field} at byte ${this.#position}`);
    return { field, wireType: tag % 8 };
  }

  /** An unsigned 64-bit number. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#position++];
      if (byte === undefined) throw invalid("it ends within a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw invalid(`a number of more than ten bytes at byte ${this.#position}`);
  }

  float(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** A length-delimited value. */
  bytes(): Uint8Array<ArrayBuffer> {
    const length = Number(this.varint());
    const start = this.#advance(length);
    return this.#bytes.subarray(start, start + length);
  }

  skip(wireType: number): void {
    if (wireType === VARINT) this.varint();
    else if (wireType === FIXED64) this.#advance(8);
    else if (wireType === LENGTH_DELIMITED) this.bytes();
    else if (wireType === FIXED32) this.#advance(4);
    else throw invalid(`wire type ${wireType} at byte ${this.#position}`);
  }

  /** The bytes from `start` to where the reader stands. */
  since(start: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(start, this.#position);
  }

  #advance(length: number): number {
    const start = this.#position;
    if (length > this.#bytes.length - start)
      throw invalid(`it ends ${length} bytes before a value that starts at ${start}`);
    this.#position += length;
    return start;
  }
}

const invalid = (what: string) =>
  new BertEdgeError("onnx_invalid", `The file is not valid protobuf: ${what}.`, {
    hint: "The download may be incomplete, or a Git LFS pointer instead of the model: fetch it again.",
  });
