import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { type Flood, flood } from "./flood.ts";
import { holders } from "./held.ts";
import { MOST_TEXTS } from "./requests.ts";
import { readSlowly } from "./slow-reader.ts";
import { steady } from "./steady.ts";

type Ask = { inputs: string[]; key: string | undefined };

async function serve(answer: (ask: Ask, response: ServerResponse) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    answer({ ...JSON.parse(`${body}`), key: request.headers.authorization }, response);
  });
  return listen(server);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("counts what callers get, and compares every vector", async () => {
  const over = new AbortController();
  let [quick, slow] = [0, 0];
  const url = await serve(({ inputs }, response) => {
    // A second slow request comes when the answer to the first is counted.
    const isOver = () => quick >= 6 && slow >= 2;
    if (inputs.length === MOST_TEXTS) {
      slow++;
      if (slow === 1) response.end('{"embeddings":[[1],[3]]}');
      else if (isOver()) over.abort();
      return;
    }
    quick++;
    if (quick === 2) {
      response.writeHead(503, { "retry-after-ms": "1" }).end('{"error":{"code":"overloaded"}}');
    } else if (quick === 3) response.destroy();
    else if (quick < 6) response.end(JSON.stringify({ embeddings: [quick === 5 ? "wrong" : "right"] }));
    else if (isOver()) over.abort();
  });
  const options: Flood = {
    access: { url, key: "key" },
    ...{ clients: 2, slowClients: 1, budgetMs: 50, right: { word: ["right"] }, rightBeginnings: ["[[1],[2]]"] },
  };
  const { counts, answersMs, wrong } = await flood(options, over.signal);
  expect(counts).toEqual({ "200": 3, "503 overloaded": 1, CLOSED: 1 });
  expect(answersMs.length).toBe(3);
  expect(wrong.toSorted()).toEqual([expect.stringMatching(/^slow:/), expect.stringMatching(/^word: .*wrong/)]);
});

it("reads an answer slowly to its end, and leaves out the lengths of chunks", async () => {
  const url = await serve((_, response) => {
    response.write('{"embeddings":[[1],');
    response.end("[3]]}");
  });
  const reading = await readSlowly({
    ...{ url, bytesPerSecond: 10_000, signal: new AbortController().signal },
    request: Buffer.from("POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"),
  });
  expect(reading).toMatchObject({ outcome: "200", read: expect.stringContaining("[[1],[3]]") });
});

it("sends at a steady rate, whether or not earlier requests were answered", async () => {
  const waiting: ServerResponse[] = [];
  const url = await serve((_, response) => {
    waiting.push(response);
    if (waiting.length === 3) for (const each of waiting) each.end('{"embeddings":["right"]}');
  });
  const tally = await steady({
    access: { url, key: "key" },
    ...{ everyMs: 1, durationMs: 3, budgetMs: undefined, right: { word: ["right"] } },
  });
  expect(tally.counts).toEqual({ "200": 3 });
});

it.each(["chunked upload", "declared upload"] as const)("a %s does not end, until the server ends it", async (kind) => {
  const got: number[] = [];
  const server = createServer((request) => {
    let bytes = 0;
    request.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes < 3_900_000) return;
      got.push(bytes);
      request.destroy();
    });
    request.on("error", () => {});
  });
  const held = holders[kind]({ url: await listen(server), key: "key" });
  expect((await held.ended).how).toMatch(/^(closed|ECONNRESET)$/);
  expect(got).toHaveLength(1);
});

it.runIf(process.platform === "linux")("notices the end of a connection of which nothing is read", async () => {
  const url = await serve((_, response) => response.writeHead(503, { connection: "close" }).end("{}"));
  expect((await holders["unread answer"]({ url, key: "key" }).ended).how).toBe("503");
});
