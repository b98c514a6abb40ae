import { totalLength } from "../artifact/total-length.ts";
import type { TokenIds } from "./engine/engine.ts";

const MIB = 1024 * 1024;

/** Bytes of an isolate that models and requests may use. Cloudflare allows 128 MiB; code and garbage need the rest. */
const ISOLATE_BYTES = 96 * MIB;
/** Minimum and maximum bytes that requests may hold: enough for a request with long texts, and not so much that garbage has no room. */
const [MIN_BYTES, MAX_BYTES] = [8 * MIB, 32 * MIB];

/** Returns the bytes that all requests in flight may hold in an isolate beside models of `modelBytes`. */
export const roomForRequests = (modelBytes: number): number =>
  Math.min(Math.max(ISOLATE_BYTES - modelBytes, MIN_BYTES), MAX_BYTES);

/** Bytes that a text needs beside its characters, and an array beside its numbers. Measured with V8's inspector in workerd. */
const [TEXT_BYTES, ARRAY_BYTES] = [64, 256];
/** Maximum bytes per character. V8 stores texts in Latin letters with one byte per character, and other texts with two. */
const CHARACTER_BYTES = 2;
/** Bytes of a token id, and of each number in an output. */
const NUMBER_BYTES = 4;

/** Returns the bytes of a request's texts. */
export const readBytes = (texts: readonly string[]): number =>
  CHARACTER_BYTES * totalLength(texts) + TEXT_BYTES * texts.length;

/** Returns the bytes of arrays of numbers. */
const arrayBytes = (arrays: readonly { readonly length: number }[]): number =>
  NUMBER_BYTES * totalLength(arrays) + ARRAY_BYTES * arrays.length;

/** Returns the bytes that a request holds during its computation: texts, token ids, and outputs with `lengths` numbers. */
export const computedBytes = (texts: readonly string[], ids: readonly TokenIds[], lengths: readonly number[]): number =>
  readBytes(texts) + arrayBytes(ids) + arrayBytes(lengths.map((length) => ({ length })));

/** Like `computedBytes`, for a request that a region answers in base64, 4 characters for 3 bytes. Parsing holds the base64 twice. */
export const askedBytes = (texts: readonly string[], ids: readonly TokenIds[], lengths: readonly number[]): number =>
  computedBytes(texts, ids, lengths) + 2 * (4 / 3) * NUMBER_BYTES * lengths.reduce((sum, length) => sum + length, 0);

/** Returns the bytes that a computed answer holds: its outputs. */
export const answeredBytes = (outputs: readonly Float32Array[]): number => arrayBytes(outputs);
