import type { MiddlewareHandler } from "hono";
import { QUEUE_HEADER } from "../contract/headers.ts";
import type { TaskService } from "../service.ts";

/** Reports with every response how long a new request would wait, so that the edge learns how busy a region is. */
export function reportQueue<Env extends object>(
  service: (env: Env) => TaskService,
): MiddlewareHandler<{ Bindings: Env }> {
  return async function reportQueue(c, next) {
    await next();
    c.header(QUEUE_HEADER, service(c.env).queueMs().toFixed(1));
  };
}
