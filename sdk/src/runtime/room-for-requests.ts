const MIB = 1024 * 1024;

/** Bytes of an isolate that models and requests may use. Cloudflare allows 128 MiB; code and garbage need the rest. */
const ISOLATE_BYTES = 96 * MIB;
/** Bounds of what requests may hold: a request with long texts must fit, and more than this is garbage soon. */
const [MIN_BYTES, MAX_BYTES] = [8 * MIB, 32 * MIB];

/** Returns the bytes that all requests in flight may hold in an isolate beside models of `modelBytes`. */
export const roomForRequests = (modelBytes: number): number =>
  Math.min(Math.max(ISOLATE_BYTES - modelBytes, MIN_BYTES), MAX_BYTES);
