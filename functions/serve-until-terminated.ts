import type { Server } from "node:http";
import { serve } from "@hono/node-server";

/** Time that requests have to end after SIGTERM, in ms. Hosts kill the process later: Kubernetes 30 s after SIGTERM. */
const DRAIN_MS = 25_000;

export interface ServeOptions {
  fetch(request: Request): Response | Promise<Response>;
  port: number;
  /**
   * Milliseconds after SIGTERM in which new connections are still accepted, while `/ready` answers 503. Load balancers that
   * notice a stopping server only by `/ready`, or late, need this time.
   */
  stopDelayMs: number;
}

/**
 * Serves HTTP until SIGTERM. Then `/ready` answers 503 at once, running requests end, and each connection is closed after its
 * answer. The process exits with 0, or with 1 if requests ran longer than 25 s or a second SIGTERM arrived.
 */
export function serveUntilTerminated({ fetch, port, stopDelayMs }: ServeOptions): void {
  let isDraining = false;
  const answer = async (request: Request): Promise<Response> => {
    const response =
      isDraining && asksWhetherReady(request)
        ? Response.json({ status: "draining" }, { status: 503 })
        : await fetch(request);
    // The process can receive SIGTERM while it computes the answer.
    if (isDraining) response.headers.set("connection", "close");
    return response;
  };
  const server = serve({ fetch: answer, port }, (address) =>
    console.log(`region: http://localhost:${address.port}`),
  ) as Server;

  // The first process of a container has no default SIGTERM handler. Without this handler, the container would be killed
  // after a timeout.
  process.on("SIGTERM", () => {
    if (isDraining) process.exit(1);
    isDraining = true;
    setTimeout(() => server.close(() => process.exit(0)), stopDelayMs);
    setTimeout(() => {
      console.error(`region: requests were still running ${DRAIN_MS} ms after SIGTERM. They are cut off.`);
      process.exit(1);
    }, DRAIN_MS);
  });
}

const asksWhetherReady = ({ url }: Request): boolean => /^\/ready\/?$/.test(new URL(url).pathname);
