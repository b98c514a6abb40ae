import { setTimeout as sleep } from "node:timers/promises";
import { socketTo } from "./connection.ts";
import { nameOf, pauseOf } from "./tally.ts";

export interface SlowReading {
  readonly url: string;
  readonly request: Buffer;
  /** 0 reads nothing of the answer. */
  readonly bytesPerSecond: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/** The answer that a slow reader has got. */
export interface SlowAnswer {
  /** Status, with the code of a refusal; Node's code of a lost connection; "unread" if nothing was read. */
  readonly outcome: string;
  /** The part of a body with vectors that it has read, without the lengths of chunks. */
  readonly read: string;
  /** Milliseconds from the request to the end of the reading. */
  readonly ms: number;
  /** Milliseconds that a refusal asks the caller to wait. */
  readonly pauseMs: number;
}

const STEPS_PER_SECOND = 10;
/** The line before each chunk of a body. */
const CHUNK = /\r\n[0-9a-f]+\r\n/g;

/**
 * Sends a request, and reads its answer slowly, until the server closes the connection, or `signal` is aborted. A refusal is read at once.
 */
export async function readSlowly({ url, request, bytesPerSecond, signal }: SlowReading): Promise<SlowAnswer> {
  const start = performance.now();
  const socket = socketTo(url);
  let lost: string | undefined;
  socket.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    lost = code ?? message;
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const over = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  // Nothing is read before it is asked for.
  socket.pause();
  socket.write(request);
  let text = "";
  while (!signal.aborted && !socket.destroyed) {
    await Promise.race([sleep(1_000 / STEPS_PER_SECOND, undefined, { ref: false }), closed, over]);
    if (bytesPerSecond === 0) continue;
    const part = socket.read(Math.min(bytesPerSecond / STEPS_PER_SECOND, socket.readableLength)) as Buffer | null;
    text += part?.toString("latin1") ?? "";
    if (text === "" || text.startsWith("HTTP/1.1 200")) continue;
    text += (socket.read() as Buffer | null)?.toString("latin1") ?? "";
    break;
  }
  socket.destroy();
  const [head = "", ...body] = text.split("\r\n\r\n");
  const read = body.join("\r\n\r\n");
  const status = Number(head.slice(9, 12));
  const answered = status === 200 ? "200" : nameOf({ status, body: Buffer.from(read) });
  return {
    outcome: lost ?? (text === "" ? "unread" : answered),
    read: status === 200 ? `\r\n${read}`.replaceAll(CHUNK, "") : "",
    ms: performance.now() - start,
    pauseMs: pauseOf(head),
  };
}
