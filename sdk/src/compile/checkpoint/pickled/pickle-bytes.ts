import type { FileFaults } from "../../files/stored-file.ts";

const LINE_FEED = 0x0a;

/** Reads the bytes of a pickle from its beginning to its end. Compares each length with the remaining bytes before use. */
export class PickleBytes {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #faults: FileFaults;
  #at = 0;

  constructor(bytes: Uint8Array, faults: FileFaults) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#faults = faults;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  uint8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  uint16(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  int32(): number {
    return this.#view.getInt32(this.#skip(4), true);
  }

  uint32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  /** Reads an integer of `length` bytes in two's complement. Python writes the shortest form, so more than 8 bytes are too large. */
  long(length: number): number {
    const begin = this.#skip(length);
    let value = 0n;
    for (let i = Math.min(length, 8) - 1; i >= 0; i--) value = (value << 8n) | BigInt(this.#bytes[begin + i] as number);
    const number = Number(BigInt.asIntN(8 * length, value));
    if (length > 8 || !Number.isSafeInteger(number)) throw this.#faults.invalid("its pickle has a number above 2^53");
    return number;
  }

  /** Reads a text of `length` bytes. */
  text(length: number): string {
    const begin = this.#skip(length);
    return this.#decode(this.#bytes.subarray(begin, begin + length));
  }

  /** Reads a text that ends with a line feed. */
  line(): string {
    const end = this.#bytes.indexOf(LINE_FEED, this.#at);
    if (end < 0) throw this.#cutOff();
    const text = this.#decode(this.#bytes.subarray(this.#at, end));
    this.#at = end + 1;
    return text;
  }

  /** Skips the next `length` bytes, and returns where they begin. */
  #skip(length: number): number {
    const begin = this.#at;
    if (begin + length > this.#bytes.length) throw this.#cutOff();
    this.#at += length;
    return begin;
  }

  #decode(bytes: Uint8Array): string {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw this.#faults.invalid("its pickle has a text that is not UTF-8", cause);
    }
  }

  #cutOff(): Error {
    return this.#faults.invalid("its pickle is cut off");
  }
}
