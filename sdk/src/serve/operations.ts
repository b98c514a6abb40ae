import type { MiddlewareHandler } from "hono";
import { cors as corsOf } from "hono/cors";
import { exposedHeaders } from "./contract/headers.ts";
import type { Callers } from "./keys/key-ring.ts";
import { apiKey } from "./middleware/api-key.ts";
import { limitKey, limitRate, type RateLimit } from "./middleware/limits.ts";
import { logRequest, type RequestWriter } from "./middleware/log-request.ts";
import type { ResponseCache } from "./middleware/response-cache.ts";
import { note, noted } from "./middleware/variables.ts";
import { readTrace } from "./trace.ts";

/** Origins whose pages may call a deployment: one, several, or `true` for all. */
export type CrossOrigin = string | readonly string[] | boolean;

/** Options for the operation of a deployment: logs, origins that may call, rate limit, metrics, and response cache. */
export interface Operations<Env extends object> {
  readonly writers?: readonly RequestWriter<Env>[];
  readonly cors?: Exclude<CrossOrigin, false> | undefined;
  readonly rateLimit?: ((env: Env) => RateLimit | undefined) | undefined;
  readonly metrics?: boolean;
  readonly cache?: ((env: Env) => ResponseCache | undefined) | undefined;
}

/** Returns the middleware that runs for every request, also without a key. */
export function entrance<Env extends object>({
  writers = [],
  cors,
}: Operations<Env>): MiddlewareHandler<{ Bindings: Env }>[] {
  return [requestId, ...(writers.length > 0 ? [logRequest(writers)] : []), ...(cors ? [crossOrigin(cors)] : [])];
}

/** Returns the middleware that checks the caller's key and limits. */
export function guards<Env extends object>(
  callers: Callers<Env> | false,
  { rateLimit }: Operations<Env>,
): MiddlewareHandler<{ Bindings: Env }>[] {
  return [
    ...(callers === false ? [] : [apiKey(callers.current), limitKey(callers.begin)]),
    ...(rateLimit ? [limitRate(rateLimit)] : []),
  ];
}

/** Gives a request an id, unless it already has one: the caller's `x-request-id` if it is valid, else a new id. The response repeats it. */
export const requestId: MiddlewareHandler = async function nameRequest(c, next) {
  if (noted(c, "trace")) return next();
  const trace = readTrace(c.req.raw.headers);
  note(c, "trace", trace);
  c.header("x-request-id", trace.requestId);
  await next();
};

/** Seconds that browsers may keep the answer to a preflight request: two hours, the most that Chromium accepts. */
const PREFLIGHT_SECONDS = 7_200;

/** Lets pages of other origins call the routes. Answers preflight requests, which have no key. */
const crossOrigin = (origins: Exclude<CrossOrigin, false>): MiddlewareHandler =>
  corsOf({
    origin: origins === true ? "*" : typeof origins === "string" ? origins : [...origins],
    exposeHeaders: [...exposedHeaders],
    maxAge: PREFLIGHT_SECONDS,
  });
