import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { serve } from "@hono/node-server";
import { onTestFinished } from "vitest";
import type { Task } from "#sdk/artifact/manifest.ts";
import { createEdgeApp, type EdgeAppOptions } from "#sdk/serve/edge-app.ts";
import { taskEngine, taskStore } from "../fixtures/task-model.ts";
import { TINY } from "../fixtures/tiny-model.ts";

const built = join(import.meta.dirname, "../../sdk/dist/page");
const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};

/** Answers with the files of the built page, as a Worker's static assets do. */
const assets = {
  async fetch({ url }: Request): Promise<Response> {
    const { pathname } = new URL(url);
    const path = join(built, pathname === "/" ? "index.html" : pathname);
    if (!existsSync(path)) return new Response(null, { status: 404 });
    return new Response(await readFile(path), { headers: { "content-type": types[extname(path)] ?? "" } });
  },
};

/**
 * Serves the page in this process, with a model for a task that computes made-up outputs.
 *
 * @param options of the app. Default: no key is needed, and no request takes too long
 * @returns the URL of the page, which is served until the test ends
 */
export async function servedPage(
  task: Task,
  options: Partial<Pick<EdgeAppOptions<object>, "keys" | "cpuLimitMs" | "defaults">> = {},
): Promise<string> {
  const app = createEdgeApp({
    models: await taskStore(task, 64),
    model: TINY.name,
    engine: taskEngine(task),
    keys: false,
    page: assets,
    // The model's stated times are far above the real ones.
    cpuLimitMs: Number.POSITIVE_INFINITY,
    limits: { maxWaitMs: 1e9 },
    ...options,
  });
  app.get("/:file{[^/]+\\.(js|css|wasm)}", (c) => assets.fetch(c.req.raw));
  const listening = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, listening.resolve) as Server;
  const { port } = await listening.promise;
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${port}`;
}
