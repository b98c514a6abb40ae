import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Hono } from "hono";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { pointerKey } from "#sdk/artifact/keys.ts";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { serveUntilTerminated } from "../../functions/serve-until-terminated.ts";
import { startDirectEdge } from "../fixtures/direct-edge.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

// Every route that answers without a key, on every runtime: what can a caller without a key make a server do and keep?

/** Requests that a client sends ahead on one connection. The first of them are in the 64 KiB that Node reads at once. */
const AHEAD = 1_600;
/** Bytes that a server may have made for a client that reads nothing: what fits into the buffers of a connection, and an answer. */
const MOST_UNREAD = 16 * 1024 * 1024;
/** Bytes of an answer without a key, at most, apart from the files of a page and of models. */
const MOST_BYTES = 150_000;
const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"] as const;

const models = await tinyStore();
/** A deployment can show its models to everyone. */
const ARTIFACT = `/artifacts/${pointerKey(TINY.name)}`;
const page = { fetch: async () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }) };
const common = { models, model: TINY.name, keys: ["key"], metrics: true } as const;
const apps: Record<"edge" | "region", () => Hono<never>> = {
  edge: () => createEdgeApp({ ...common, engine: fakeEngine(), page, artifacts: "public" }) as never,
  region: () => createRegionApp({ ...common, engine: fakeEngine({ target: "regional-cpu" }) }) as never,
};

/** Fills in the parameters of a route's path. */
const filled = (path: string) =>
  path
    .replace(/:model/, TINY.name)
    .replace(/:[a-z]+(\{[^}]*\})?/g, "x")
    .replace(/\*$/, "x");

/** Lists all paths of an app, and some that it does not have. */
const pathsOf = (app: Hono<never>): string[] => [
  ...new Set([...app.routes.map(({ path }) => filled(path)).filter((path) => path !== "/x"), "/nothing", ARTIFACT]),
];

interface Open {
  readonly method: string;
  readonly path: string;
  readonly bytes: number;
}

/**
 * Asks every route with every method and without a key. Returns those that do not ask for a key, and of all those that do not exist the
 * ones of a path.
 */
async function openRoutes(app: Hono<never>): Promise<Open[]> {
  const found: Open[] = [];
  for (const path of pathsOf(app)) {
    for (const method of METHODS) {
      const response = await app.request(path, { method });
      const bytes = (await response.arrayBuffer()).byteLength;
      if (method === "HEAD") expect(bytes, path).toBe(0);
      expect(bytes, `${method} ${path}`).toBeLessThan(MOST_BYTES);
      const isRefused = [404, 405].includes(response.status) && path !== "/nothing";
      if (response.status !== 401 && !isRefused) found.push({ method, path, bytes });
    }
  }
  return found;
}

/** Sends requests ahead on one connection, and reads nothing. */
function sendAhead(port: number, { method, path }: Open): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n`.repeat(AHEAD));
  return socket;
}

const status = async (port: number, path = "/health") => (await fetch(`http://127.0.0.1:${port}${path}`)).status;

/** Waits until a count does not change any more. */
async function settled(count: () => Promise<number>): Promise<number> {
  let before = -1;
  await expect
    .poll(
      async () => {
        const now = await count();
        const isSame = now === before;
        before = now;
        return isSame;
      },
      { interval: 100, timeout: 20_000 },
    )
    .toBe(true);
  return before;
}

/** Answers without a key that anybody may have. Paths that ask for a key are not among them. */
const expected = {
  edge: ["/", ARTIFACT, "/docs", "/health", "/metrics", "/nothing", "/openapi.json", "/ready"],
  region: ["/docs", "/health", "/metrics", "/nothing", "/openapi.json", "/ready"],
};

describe.each(["edge", "region"] as const)("the routes of the %s that answer without a key", (tier) => {
  let open: Open[];
  beforeAll(async () => {
    open = await openRoutes(apps[tier]());
  });

  it("are known, and their answers are small", () => {
    const answered = open.map(({ path }) => path.replace(/(.)\/$/, "$1"));
    expect([...new Set(answered)].toSorted()).toEqual(expected[tier]);
  });

  it("do not make answers that nobody reads, on Node", async () => {
    vi.spyOn(process, "on").mockReturnValue(process);
    vi.spyOn(console, "log").mockReturnValue();
    const app = apps[tier]();
    let made = 0;
    const server: Server = serveUntilTerminated({
      port: 0,
      hostname: "127.0.0.1",
      stopDelayMs: 0,
      fetch: (request) => {
        made++;
        return app.fetch(request);
      },
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    try {
      for (const route of open) {
        made = 0;
        const socket = sendAhead(port, route);
        await settled(async () => made);
        // More than 32 requests ahead end the connection, whatever they ask for.
        expect(made, `${route.method} ${route.path}`).toBeLessThanOrEqual(32);
        expect(await status(port)).toBe(200);
        socket.destroy();
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
afterEach(() => void vi.restoreAllMocks());

it("the routes of the edge that answer without a key do not make answers that nobody reads, in workerd", async () => {
  const open = (await openRoutes(apps.edge())).filter(({ path }) => path !== ARTIFACT);
  const modules = await workerModules({
    stdin: {
      contents: `
        import { pointerKey } from "#sdk/artifact/keys.ts";
import { createEdgeApp } from "bert-edge/serve";
        import { wasmEngine } from "bert-edge/engine/wasm";
        import simd from "bert-edge/kernels/simd.wasm";
        const models = { name: "none", open: async () => undefined };
        const page = { fetch: async () => new Response("<!doctype html>") };
        const app = createEdgeApp({ models, model: "tiny", engine: wasmEngine({ simd }), keys: ["key"], metrics: true, page });
        let made = 0;
        export default {
          fetch(request, env, context) {
            const { pathname } = new URL(request.url);
            if (pathname === "/made") return new Response(String(made));
            if (pathname === "/forget") return new Response(String((made = 0)));
            made++;
            return app.fetch(request, env, context);
          },
        };`,
      loader: "ts",
      resolveDir: process.cwd(),
    },
  });
  const edge = await startDirectEdge({ modules, env: {}, warm: false });
  const ask = async (path: string) => Number(await (await fetch(edge.url + path)).text());
  const port = Number(new URL(edge.url).port);
  try {
    for (const route of open) {
      await ask("/forget");
      const socket = sendAhead(port, route);
      const made = await settled(() => ask("/made"));
      expect(made * route.bytes, `${route.method} ${route.path}: ${made} answers`).toBeLessThan(MOST_UNREAD);
      expect(await status(port)).toBe(200);
      socket.destroy();
    }
  } finally {
    await edge.stop();
  }
});
