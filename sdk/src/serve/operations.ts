import type { MiddlewareHandler } from "hono";
import type { Callers } from "./keys/key-ring.ts";
import { apiKey } from "./middleware/api-key.ts";
import { type CrossOrigin, crossOrigin } from "./middleware/cross-origin.ts";
import { limitKey, limitRate, type RateLimit } from "./middleware/limits.ts";
import { logRequest, type RequestWriter } from "./middleware/log-request.ts";
import type { ResponseCache } from "./middleware/response-cache.ts";
import { note, noted } from "./middleware/variables.ts";
import { readTrace } from "./trace.ts";

/** How a deployment is operated: who may call it, how often, and what is written about it. */
export interface Operations<Env extends object> {
  readonly writers?: readonly RequestWriter<Env>[];
  readonly cors?: Exclude<CrossOrigin, false> | undefined;
  readonly rateLimit?: ((env: Env) => RateLimit | undefined) | undefined;
  readonly metrics?: boolean;
  readonly cache?: ((env: Env) => ResponseCache | undefined) | undefined;
}

/** Middleware of every request, also of those without a key. */
export function entrance<Env extends object>({
  writers = [],
  cors,
}: Operations<Env>): MiddlewareHandler<{ Bindings: Env }>[] {
  return [requestId, ...(writers.length > 0 ? [logRequest(writers)] : []), ...(cors ? [crossOrigin(cors)] : [])];
}

/** Middleware that decides whether a caller may call. */
export function guards<Env extends object>(
  callers: Callers<Env> | false,
  { rateLimit }: Operations<Env>,
): MiddlewareHandler<{ Bindings: Env }>[] {
  return [
    ...(callers === false ? [] : [apiKey(callers.current), limitKey(callers.begin)]),
    ...(rateLimit ? [limitRate(rateLimit)] : []),
  ];
}

/** Names every request in `x-request-id`: by the caller's id if it is valid, else by a new one, unless it has a name. */
export const requestId: MiddlewareHandler = async function nameRequest(c, next) {
  if (noted(c, "trace")) return next();
  const trace = readTrace(c.req.raw.headers);
  note(c, "trace", trace);
  c.header("x-request-id", trace.requestId);
  await next();
};
