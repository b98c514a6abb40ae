import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { serveUntilTerminated } from "../functions/serve-until-terminated.ts";

let server: Server;
let port: number;
let handled = 0;
let running = 0;
let mostAtATime = 0;

beforeEach(async () => {
  [handled, running, mostAtATime] = [0, 0, 0];
  vi.spyOn(process, "on").mockReturnValue(process);
  vi.spyOn(console, "log").mockReturnValue();
  server = serveUntilTerminated({
    port: 0,
    stopDelayMs: 0,
    async fetch({ url }) {
      handled++;
      mostAtATime = Math.max(mostAtATime, ++running);
      for (let i = 0; i < 5; i++) await nextTurn();
      running--;
      return new Response(`<${new URL(url).pathname}>`);
    },
  });
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  vi.restoreAllMocks();
});

/** Sends requests ahead on one connection, the last of which closes it, and returns all that comes back. */
async function pipelined(requests: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const request = (i: number) =>
    `GET /${i} HTTP/1.1\r\nhost: x\r\n${i === requests - 1 ? "connection: close\r\n" : ""}\r\n`;
  socket.write(Array.from({ length: requests }, (_, i) => request(i)).join(""));
  return text(socket).catch(() => "");
}

it("answers the requests of a connection one after the other, in order", async () => {
  const answers = await pipelined(30);
  expect(answers.match(/<[^>]+>/g)).toEqual(Array.from({ length: 30 }, (_, i) => `</${i}>`));
  expect(mostAtATime).toBe(1);
});

it("answers connections side by side", async () => {
  await Promise.all([pipelined(20), pipelined(20), pipelined(20)]);
  expect(mostAtATime).toBeGreaterThan(1);
});

it("closes a connection with too many requests ahead, and handles none of them later", async () => {
  await pipelined(1_600);
  await pipelined(1);
  expect(handled).toBeLessThan(5);
});

it("limits the time of headers and requests, and keeps connections longer than load balancers do", () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = server;
  expect([headersTimeout, requestTimeout]).toEqual([10_000, 60_000]);
  expect(keepAliveTimeout).toBeGreaterThan(60_000);
});

it("closes a connection whose client reads nothing of an answer for 30 s, and none that waits for an answer", async () => {
  const timeouts: number[] = [];
  server.on("connection", (socket: Socket) => {
    const { setTimeout } = socket;
    socket.setTimeout = (ms) => {
      timeouts.push(ms);
      return setTimeout.call(socket, ms);
    };
  });
  await pipelined(2);
  expect(timeouts.filter((ms, i) => ms !== timeouts[i - 1])).toEqual([0, 30_000, 0, 30_000]);
});
