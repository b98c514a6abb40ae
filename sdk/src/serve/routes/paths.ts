import type { Env, Hono } from "hono";
import { METHODS } from "hono/router";
import { findTargetHandler, isMiddleware } from "hono/utils/handler";

/** Returns a route's path, and the path with a slash at the end: callers often write either. */
export const withAndWithoutSlash = (path: string): string[] => (path === "/" ? [path] : [path, `${path}/`]);

/** Returns the methods that the routes of an app take at a path, in capitals. Middleware does not count. */
export function methodsOf<E extends Env>(app: Hono<E>, path: string): string[] {
  return METHODS.map((method) => method.toUpperCase()).filter((method) => {
    const [matches] = app.router.match(method, path);
    return matches.some(([[handler, route]]) => route.method === method && !isMiddleware(findTargetHandler(handler)));
  });
}
