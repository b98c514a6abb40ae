import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import type { ModelStore } from "./model-store.ts";

/** Time from a request until the first byte of its answer. */
export const LATENCY_MS = 20;
/** Rate of each answer. */
export const BYTES_PER_MS = 50_000;
/** Maximum bytes that are sent at a time. */
const PIECE = 16_384;
/** Maximum bytes by which an answer catches up after a pause: as many as a connection's buffers hold while its reader computes. */
const MAX_BURST = 64 * PIECE;

/** Starts a web server on this machine that answers like a distant store: late, and at a limited rate. */
export async function startPacedStore(): Promise<ModelStore> {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  let requests = 0;
  const server = createServer(async ({ url = "", headers }, response) => {
    requests++;
    await sleep(LATENCY_MS);
    const bytes = objects.get(decodeURIComponent(url.slice(1)));
    if (!bytes) return response.writeHead(404).end();
    const [, begin, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    const part = begin === undefined ? bytes : bytes.subarray(Number(begin), Number(end) + 1);
    response.writeHead(part === bytes ? 200 : 206, { "content-length": part.length });
    // A Worker that has answered stops, and the connection with it.
    await pipeline(Readable.from(paced(part)), response).catch(() => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    source: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    publish: async (artifact) => void (await publish(artifact, memoryStore(objects))),
    requests: () => requests,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Splits bytes into pieces, and returns each when the rate allows it: a token bucket that is empty at the beginning. */
async function* paced(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  let [allowed, at] = [0, performance.now()];
  for (let sent = 0; sent < bytes.length; ) {
    const now = performance.now();
    allowed = Math.min(allowed + (now - at) * BYTES_PER_MS, MAX_BURST);
    at = now;
    const piece = bytes.subarray(sent, sent + PIECE);
    if (piece.length > allowed) {
      await sleep(1);
      continue;
    }
    yield piece;
    allowed -= piece.length;
    sent += piece.length;
  }
}
