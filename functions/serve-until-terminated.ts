import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { type Http2Bindings, type HttpBindings, serve } from "@hono/node-server";

/** Time that requests have to end after SIGTERM, in ms. Hosts kill the process later: Kubernetes 30 s after SIGTERM. */
const DRAIN_MS = 25_000;

/**
 * Time limits of connections, in ms. A load balancer that keeps connections longer than this server sends requests into closed ones:
 * AWS's keep them for 60 s.
 */
const serverOptions = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
};

/** Time in ms after which a connection is closed whose client reads nothing of an answer. */
const UNREAD_MS = 30_000;

/** Requests that a client may send on a connection before the first of them is answered. */
const MAX_AHEAD = 32;

export interface ServeOptions {
  fetch(request: Request): Response | Promise<Response>;
  port: number;
  /** Address at which the server listens. Default: all of the machine's. */
  hostname?: string | undefined;
  /**
   * Milliseconds after SIGTERM in which new connections are still accepted, while `/ready` answers 503. Load balancers that
   * notice a stopping server only by `/ready`, or late, need this time.
   */
  stopDelayMs: number;
}

/**
 * Serves HTTP until SIGTERM. Then `/ready` answers 503 at once, running requests end, and each connection is closed after its
 * answer. The process exits with 0, or with 1 if requests ran longer than 25 s or a second SIGTERM arrived.
 *
 * A client that sends its headers or its body too slowly, that reads no answer, or that sends too many requests ahead loses its
 * connection.
 */
export function serveUntilTerminated({ fetch, port, hostname, stopDelayMs }: ServeOptions): Server {
  let isDraining = false;
  const answer = async (request: Request, { incoming }: HttpBindings | Http2Bindings): Promise<Response> => {
    const response =
      isDraining && asksWhetherReady(request)
        ? Response.json({ status: "draining" }, { status: 503 })
        : await fetch(request);
    // The process can receive SIGTERM while it computes the answer.
    if (isDraining) response.headers.set("connection", "close");
    incoming.socket.setTimeout(UNREAD_MS);
    return response;
  };
  const inTurn = (options: ServerOptions, handle: RequestListener) => createServer(options, oneAtATime(handle));
  const options = { port, serverOptions, createServer: inTurn as typeof createServer, ...(hostname && { hostname }) };
  const server = serve({ ...options, fetch: answer }, (address) =>
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
  return server;
}

/**
 * Handles the requests of a connection one after the other: Node hands out all that a client has sent ahead at once, and keeps their
 * answers until it can send them. A connection with more than `MAX_AHEAD` such requests is closed.
 */
function oneAtATime(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (incoming, outgoing) => {
    const { socket } = incoming;
    if (socket.destroyed) return;
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    if (queue.length > MAX_AHEAD) socket.destroy();
    queue.push(() => {
      socket.setTimeout(0);
      handle(incoming, outgoing);
    });
    outgoing.once("close", () => {
      queue.shift();
      if (!socket.destroyed) queue[0]?.();
    });
    if (queue.length === 1) queue[0]?.();
  };
}

const asksWhetherReady = ({ url }: Request): boolean => /^\/ready\/?$/.test(new URL(url).pathname);
