import type { Env, Hono } from "hono";
import { METHODS } from "hono/router";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";

/** Returns the methods that the routes of an app take at a path, in capitals. Middleware does not count. */
export function methodsOf<E extends Env>(app: Hono<E>, path: string): string[] {
  return METHODS.map((method) => method.toUpperCase()).filter((method) => {
    const [matches] = app.router.match(method, path);
    return matches.some(([[handler, route]]) => route.method === method && !isMiddleware(findTargetHandler(handler)));
  });
}
