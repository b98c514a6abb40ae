import { totalLength } from "../artifact/total-length.ts";
import type { TokenIds } from "./engine/engine.ts";

const MIB = 1024 * 1024;

/** Bytes of an isolate that models and requests may use. Cloudflare allows 128 MiB; code and garbage need the rest. */
const ISOLATE_BYTES = 96 * MIB;
/** Bounds of what requests may hold: a request with long texts must fit, and more than this is garbage soon. */
const [MIN_BYTES, MAX_BYTES] = [8 * MIB, 32 * MIB];

/** Returns the bytes that all requests in flight may hold in an isolate beside models of `modelBytes`. */
export const roomForRequests = (modelBytes: number): number =>
  Math.min(Math.max(ISOLATE_BYTES - modelBytes, MIN_BYTES), MAX_BYTES);

/** Memory of a text besides its characters, and of a typed array besides its numbers, in bytes, by V8's inspector in workerd. */
const [TEXT_BYTES, ARRAY_BYTES] = [64, 256];
/** Bytes of a character: V8 has one for texts in Latin letters, and two for others. */
const CHARACTER_BYTES = 2;
/** Bytes of a token id, and of a number of an output. */
const NUMBER_BYTES = 4;

/** Returns the bytes of a request whose texts are read. */
export const readBytes = (texts: readonly string[]): number =>
  CHARACTER_BYTES * totalLength(texts) + TEXT_BYTES * texts.length;

/** Returns the bytes of arrays of numbers. */
const arrayBytes = (arrays: readonly { readonly length: number }[]): number =>
  NUMBER_BYTES * totalLength(arrays) + ARRAY_BYTES * arrays.length;

/** Returns the bytes of a request whose outputs are being computed. `lengths` are those of the outputs. */
export const computedBytes = (texts: readonly string[], ids: readonly TokenIds[], lengths: readonly number[]): number =>
  readBytes(texts) + arrayBytes(ids) + arrayBytes(lengths.map((length) => ({ length })));

/** Returns the bytes of a request that a region answers. The answer has 4 characters for 3 bytes, twice while it is parsed. */
export const askedBytes = (texts: readonly string[], ids: readonly TokenIds[], lengths: readonly number[]): number =>
  computedBytes(texts, ids, lengths) + 2 * (4 / 3) * NUMBER_BYTES * lengths.reduce((sum, length) => sum + length, 0);

/** Returns the bytes of a request that is answered. */
export const answeredBytes = (outputs: readonly Float32Array[]): number => arrayBytes(outputs);
