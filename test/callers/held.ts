import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Access } from "../fixtures/start-embed.ts";
import { socketTo } from "./connection.ts";
import { embedRequest, postHead } from "./requests.ts";
import { manyWords } from "./right.ts";

/** A connection that a caller keeps, so that the server keeps what belongs to it. */
export interface Held {
  /**
   * Resolves when the server has answered an unfinished request, or has ended the connection: the milliseconds after its opening, and the
   * status of the answer, "closed" without an answer, or Node's code of the error.
   */
  readonly ended: Promise<{ readonly ms: number; readonly how: string }>;
  close(): void;
}

/** Ways in which a caller makes a server keep something. */
export const holders = {
  /** Sends most of a body in chunks, and then nothing. */
  "chunked upload": (access: Access) =>
    unfinishedUpload(access, { "transfer-encoding": "chunked" }, [`${UPLOAD.length.toString(16)}\r\n`, UPLOAD, "\r\n"]),
  /** Sends most of a body whose length it has declared, and then nothing. */
  "declared upload": (access: Access) =>
    unfinishedUpload(access, { "content-length": `${UPLOAD.length + REST}` }, [UPLOAD]),
  /** Wants the vectors of 2,048 words, and reads nothing of the answer. */
  "unread answer": (access: Access) => unreadAnswer(access),
  /** Sends many requests for a document ahead, and reads nothing of the answers. */
  pipelining: ({ url }: Access) => unread(url, [PIPELINE.replaceAll("HOST", new URL(url).host)]),
} as const satisfies Readonly<Record<string, (access: Access) => Held>>;

export type Holder = keyof typeof holders;

/** Most of the largest body that an edge takes by default, and bytes that are missing. */
const UPLOAD = Buffer.from(`{"inputs": ["${"a".repeat(3_900_000)}`);
const REST = 1_000;
/** Requests of 39 bytes with the shortest name of a host: 62,400 bytes. */
const PIPELINE = "GET /openapi.json HTTP/1.1\r\nhost: HOST\r\n\r\n".repeat(1_600);

function unfinishedUpload(
  access: Access,
  headers: Readonly<Record<string, string>>,
  parts: readonly (string | Buffer)[],
): Held {
  const socket = socketTo(access.url);
  const held = hold(socket);
  for (const part of [postHead(access, headers), ...parts]) socket.write(part);
  return held;
}

function unreadAnswer(access: Access): Held {
  return unread(access.url, [embedRequest(access, manyWords(), { format: "float" })]);
}

function unread(url: string, parts: readonly (string | Buffer)[]): Held {
  const socket = socketTo(url);
  const held = hold(socket, true);
  for (const part of parts) socket.write(part);
  return held;
}

const POLL_MS = 500;

function hold(socket: Socket, isUnread = false): Held {
  const start = performance.now();
  const { promise: ended, resolve } = Promise.withResolvers<{ ms: number; how: string }>();
  const end = (how: string) => resolve({ ms: performance.now() - start, how });
  socket.on("error", ({ code }: NodeJS.ErrnoException) => end(`${code}`));
  socket.on("close", () => end("closed"));
  socket.once("data", (part: Buffer) => end(part.toString("latin1", 9, 12)));
  // Listening to data has begun to read.
  if (isUnread) {
    socket.pause();
    void closedUnread(socket).then(() => socket.resume());
  }
  return { ended, close: () => void socket.destroy() };
}

/** State of a connection in Linux's table that both sides keep open. */
const ESTABLISHED = "01";

/** Waits until the server ends a connection of which nothing is read. Node does not notice it. */
async function closedUnread(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    await sleep(POLL_MS, undefined, { ref: false });
    if (socket.localPort === undefined) continue;
    const port = socket.localPort.toString(16).toUpperCase().padStart(4, "0");
    const table = await readFile("/proc/net/tcp", "utf8");
    const [, state] = new RegExp(`^ *\\d+: [0-9A-F]{8}:${port} \\S+ (\\w\\w) `, "m").exec(table) ?? [];
    if (state !== ESTABLISHED) return;
  }
}
