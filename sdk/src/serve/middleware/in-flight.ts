import type { Context, MiddlewareHandler } from "hono";
import { BertEdgeError } from "../../artifact/error.ts";
import { CALLER_HEADER, MAX_CALLER } from "../contract/headers.ts";
import type { Limits } from "../limits.ts";
import { anyone, type Caller, callerWith } from "../queue/caller.ts";
import type { TaskService } from "../service.ts";
import { bodyTooLarge, declaredBytes, isSmall, receivedText } from "./received-text.ts";
import { note, noted } from "./variables.ts";

/** Longest time in ms from the arrival of a request with a small body until its texts are read. */
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
    // A caller who goes may leave it behind.
    if (isSmall(declared)) hold.keep(SMALL_BODY_MS);
    note(c, "flight", { caller, hold, bodyText: () => receivedText(c, { hold, declared, maxBytes: maxBodyBytes }) });
    try {
      await next();
    } finally {
      hold.release();
    }
  };
}

/**
 * Returns who sends a request, whose key is checked.
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
