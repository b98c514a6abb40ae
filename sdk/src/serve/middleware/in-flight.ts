import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { textUpTo } from "../../storage/bounded-text.ts";
import { CALLER_HEADER, MAX_CALLER } from "../contract/headers.ts";
import type { Limits } from "../limits.ts";
import { anyone, type Caller, callerWith, type Hold } from "../queue/caller.ts";
import { answeringMs } from "../queue/in-flight.ts";
import type { TaskService } from "../service.ts";
import { note, noted } from "./variables.ts";

/** Maximum time in ms from the arrival of a request with a small body until its texts are read. */
const SMALL_BODY_MS = 15_000;

/**
 * Counts a request and the memory that it holds from its arrival until its answer is sent. Refuses bodies that are declared too large.
 *
 * @throws BertEdgeError `body_too_large`, `overloaded`, `rate_limited`, `request_invalid`
 */
export function countInFlight<Env extends object>(
  service: (env: Env) => Pick<TaskService, "hold">,
  { maxBodyBytes }: Pick<Limits, "maxBodyBytes">,
): MiddlewareHandler<{ Bindings: Env }> {
  return async function countInFlight(c, next) {
    const declared = declaredBytes(c);
    if (declared !== undefined && declared > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
    const caller = callerOf(c);
    const hold = service(c.env).hold({ caller, trace: noted(c, "trace") }, declared ?? 0);
    // If the caller disconnects, the platform may end the request without a release. Then its memory counts for this time at most.
    if (isSmall(declared)) hold.keep(SMALL_BODY_MS);
    const bodyText = async () => {
      const text = await receivedText(c, { hold, declared, maxBytes: maxBodyBytes });
      // The model of any route may have to be loaded first.
      hold.keep(answeringMs());
      return text;
    };
    note(c, "flight", { caller, hold, bodyText });
    try {
      await next();
    } finally {
      hold.release();
    }
  };
}

/**
 * Returns the caller of a request whose key was already checked.
 *
 * @throws BertEdgeError `request_invalid` if the header `x-bert-edge-caller` is not valid
 */
function callerOf(c: Context): Caller {
  const behind = c.req.header(CALLER_HEADER);
  if (behind === undefined || (behind.length <= MAX_CALLER && /^[!-~ ]+$/.test(behind))) {
    const key = noted(c, "key");
    return key || behind ? callerWith(key ?? { name: "" }, behind) : anyone;
  }
  throw new BertEdgeError("request_invalid", `The header ${CALLER_HEADER} is not valid.`, {
    hint: `Send up to ${MAX_CALLER} visible ASCII characters that name the caller, or leave the header out.`,
  });
}

/** Maximum bytes of a small body. It is read at once, and must arrive within one window. */
const SMALL_BYTES = 65_536;
/** Bytes of the buffer for a larger body. */
const PIECE_BYTES = 16_384;
/** A larger body must grow by `SMALL_BYTES` in each window of `WINDOW_MS`, and be complete within `LONGEST_MS`. */
const [WINDOW_MS, LONGEST_MS] = [10_000, 60_000];

/** Returns the bytes that a body is declared to have; undefined if it is sent in chunks. */
function declaredBytes(c: Context): number | undefined {
  const declared = c.req.header("content-length");
  const isKnown = declared !== undefined && /^\d+$/.test(declared) && c.req.header("transfer-encoding") === undefined;
  return isKnown ? Number(declared) : undefined;
}

/** Whether a body is declared to be small. */
const isSmall = (declared: number | undefined): boolean => declared !== undefined && declared <= SMALL_BYTES;

const bodyTooLarge = (maxBytes: number): BertEdgeError =>
  new BertEdgeError("body_too_large", `The request body is larger than ${maxBytes} bytes.`, {
    hint: "Send the texts in several requests.",
  });

const bodyTooSlow = (bytes?: number): BertEdgeError =>
  new BertEdgeError(
    "body_too_slow",
    `The request body came too slowly${bytes === undefined ? "" : `: ${bytes} bytes had arrived`}.`,
    {
      hint: `Send at least ${SMALL_BYTES} bytes each ${WINDOW_MS / 1_000} s, and the whole body within ${LONGEST_MS / 1_000} s.`,
    },
  );

interface Receiving {
  readonly hold: Hold;
  /** Bytes that the body is declared to have. */
  readonly declared: number | undefined;
  readonly maxBytes: number;
}

/**
 * Reads a request's body as text. The text counts as memory of the request.
 *
 * @throws BertEdgeError `body_too_large`, `body_too_slow`, `overloaded`, and what the stream throws if it ends early
 */
async function receivedText(c: Context, { hold, declared, maxBytes }: Receiving): Promise<string> {
  const { bodyCache, raw } = c.req;
  const isRead = Object.keys(bodyCache).length > 0;
  if (isRead || isSmall(declared)) {
    const text = await (isRead ? c.req.text() : inTime(c.req.text()));
    if (text.length > maxBytes) throw bodyTooLarge(maxBytes);
    return text;
  }
  if (!raw.body) return "";
  const arrived = (bytes: number) => hold.reserveBody(PIECE_BYTES + Math.max(bytes, declared ?? 0));
  arrived(0);
  const text = await inWindows(raw.body, maxBytes, arrived);
  if (text === undefined) throw bodyTooLarge(maxBytes);
  // Keeps the text for other middleware and for the route.
  bodyCache.text = Promise.resolve(text) as never;
  return text;
}

/** Waits for the text of a small body, at most one window. */
function inTime(text: Promise<string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(bodyTooSlow()), WINDOW_MS);
    text.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Reads a large body with `textUpTo`, as long as it grows fast enough in each window. */
async function inWindows(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  arrived: (bytes: number) => void,
): Promise<string | undefined> {
  const late = Promise.withResolvers<never>();
  let [bytes, bytesBefore, windows] = [0, 0, 0];
  const timer = setInterval(() => {
    windows++;
    if (bytes - bytesBefore < SMALL_BYTES || windows * WINDOW_MS >= LONGEST_MS) late.reject(bodyTooSlow(bytes));
    bytesBefore = bytes;
  }, WINDOW_MS);
  const count = (now: number) => {
    bytes = now;
    arrived(bytes);
  };
  try {
    return await textUpTo(body, maxBytes, { bufferBytes: PIECE_BYTES, arrived: count, late: late.promise });
  } finally {
    clearInterval(timer);
  }
}
