import type { MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { exposedHeaders } from "../contract/headers.ts";

/** Origins whose pages may call a deployment: one, several, or `true` for all. */
export type CrossOrigin = string | readonly string[] | boolean;

/** Seconds that browsers may keep the answer to a preflight request: two hours, the most that Chromium accepts. */
const PREFLIGHT_SECONDS = 7_200;

/** Lets pages of other origins call the routes. Answers preflight requests, which have no key. */
export const crossOrigin = (origins: Exclude<CrossOrigin, false>): MiddlewareHandler =>
  cors({
    origin: origins === true ? "*" : typeof origins === "string" ? origins : [...origins],
    exposeHeaders: [...exposedHeaders],
    maxAge: PREFLIGHT_SECONDS,
  });
