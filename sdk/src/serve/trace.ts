import { toHex } from "../artifact/hex.ts";

/** Ids of a request for logs and traces. The edge sends them to the region too. */
export interface RequestTrace {
  /** The value of `x-request-id`. */
  readonly requestId: string;
  /** The caller's `traceparent`, if it is valid, as far as version 00 defines it: https://www.w3.org/TR/trace-context/ */
  readonly traceparent?: string | undefined;
}

const NO_TRACE = "0".repeat(32);
const NO_PARENT = "0".repeat(16);

/** Number of characters of a `traceparent` of version 00. Later versions begin with the same fields, and can be longer. */
const KNOWN_LENGTH = 55;

/** Flags that this version of the format defines: the caller records the trace, and its id is random. */
const KNOWN_FLAGS = 0b11;

/** Parses a `traceparent` header. Returns undefined when it is not valid. */
function parseTraceparent(header: string) {
  const [, version, traceId, parentId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header) ?? [];
  if (!traceId || !flags || version === "ff" || traceId === NO_TRACE || parentId === NO_PARENT) return undefined;
  // Version 00 ends after the flags. Later versions may add fields.
  if (version === "00" && rest !== undefined) return undefined;
  return { traceId, flags: Number.parseInt(flags, 16) };
}

/** Reads the ids of a request from its headers. A request without a valid `x-request-id` gets a new id. */
export function readTrace(headers: Headers): RequestTrace {
  const id = headers.get("x-request-id") ?? "";
  const traceparent = headers.get("traceparent") ?? "";
  return {
    requestId: /^[\w.:-]{1,128}$/.test(id) ? id : crypto.randomUUID(),
    traceparent: parseTraceparent(traceparent) && traceparent.slice(0, KNOWN_LENGTH),
  };
}

/** Returns the headers for a request to another service: the same trace, with a new parent. */
export function traceHeaders({ requestId, traceparent = "" }: RequestTrace): Record<string, string> {
  const parent = parseTraceparent(traceparent);
  if (!parent) return { "x-request-id": requestId };
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  // An id of zeros is not valid.
  bytes[0] ||= 1;
  const flags = toHex(Uint8Array.of(parent.flags & KNOWN_FLAGS));
  return { "x-request-id": requestId, traceparent: `00-${parent.traceId}-${toHex(bytes)}-${flags}` };
}
