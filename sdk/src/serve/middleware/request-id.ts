import type { Context, MiddlewareHandler } from "hono";
import { type RequestTrace, readTrace } from "../trace.ts";

const VARIABLE = "bert-edge-trace";

/**
 * Names every request, and its answer or error, in `x-request-id`: with the caller's id if it is valid, else with a new
 * one. A request that is already named keeps its names.
 */
export const requestId: MiddlewareHandler = async function nameRequest(c, next) {
  if (traceOf(c)) return next();
  const trace = readTrace(c.req.raw.headers);
  c.set(VARIABLE, trace);
  c.header("x-request-id", trace.requestId);
  await next();
};

/** Returns the id of a request that has passed `requestId`. */
export const requestIdOf = (c: Context): string => traceOf(c)?.requestId ?? "";

/** Returns the names of a request that has passed `requestId`. */
export const traceOf = (c: Context): RequestTrace | undefined => c.get(VARIABLE);
