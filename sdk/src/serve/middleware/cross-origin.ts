import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import {
  CACHE_HEADER,
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  QUEUE_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
} from "../contract/headers.ts";

/** Origins whose pages may call a deployment: one, several, or `true` for all. */
export type CrossOrigin = string | readonly string[] | boolean;

/** Seconds that browsers may keep the answer to a preflight request: two hours, the most that Chromium accepts. */
const PREFLIGHT_SECONDS = 7_200;

/** Headers that pages may read. */
const exposed = [
  CACHE_HEADER,
  DECISION_HEADER,
  MODEL_HEADER,
  PREDICTED_HEADER,
  PROVIDER_HEADER,
  QUEUE_HEADER,
  REASON_HEADER,
  REMAINING_HEADER,
  TIER_HEADER,
  "retry-after",
  "retry-after-ms",
  "server-timing",
  "x-request-id",
  "x-should-retry",
];

/** Lets pages of other origins call the routes. Answers preflight requests, which have no key. */
export const crossOrigin = (origins: Exclude<CrossOrigin, false>): MiddlewareHandler =>
  cors({
    origin: origins === true ? "*" : typeof origins === "string" ? origins : [...origins],
    exposeHeaders: exposed,
    maxAge: PREFLIGHT_SECONDS,
  });
