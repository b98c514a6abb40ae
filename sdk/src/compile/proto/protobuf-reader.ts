import { BertEdgeError } from "../../artifact/error.ts";

/** Wire types: https://protobuf.dev/programming-guides/encoding. Groups (3 and 4) are deprecated and refused. */
export const VARINT = 0;
export const FIXED64 = 1;
export const LENGTH_DELIMITED = 2;
export const FIXED32 = 5;

/** Reads the protobuf wire format. The byte arrays that its methods return are views of `bytes`. */
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

  /** Reads the next field's number and wire type. */
  tag(): { field: number; wireType: number } {
    const tag = Number(this.varint());
    const field = Math.floor(tag / 8);
    if (field === 0 || field > 0x1fff_ffff)
      throw invalid(`the field before byte ${this.#position} has the invalid number ${field}`);
    return { field, wireType: tag % 8 };
  }

  /** Reads an unsigned 64-bit number. */
  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#position++];
      if (byte === undefined) throw invalid("the file ends inside a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw invalid(`the number before byte ${this.#position} has more than ten bytes`);
  }

  float(): number {
    return this.#view.getFloat32(this.#advance(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** Reads a length-delimited value. */
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
    else throw invalid(`the field before byte ${this.#position} has the unsupported wire type ${wireType}`);
  }

  /** Returns the bytes from `start` to the current position. */
  since(start: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(start, this.#position);
  }

  #advance(length: number): number {
    const start = this.#position;
    if (length > this.#bytes.length - start)
      throw invalid(
        `a value of ${length} bytes starts at byte ${start}, but the message ends at ${this.#bytes.length}`,
      );
    this.#position += length;
    return start;
  }
}

const invalid = (what: string) =>
  new BertEdgeError("onnx_invalid", `The file is not valid protobuf: ${what}.`, {
    hint: "The download may be incomplete, or the file may be a Git LFS pointer. Download the model again.",
  });
