import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What the proxy does to a request. */
const proxyFaults = {
  "HTTP 500": (_, response) => void response.writeHead(500).end("<Error><Code>InternalError</Code></Error>"),
  "HTTP 503": (_, response) => void response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>"),
  "too slow": async (pass, response, delayMs) => {
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await send(await pass(), response);
  },
  "no answer": () => {},
  reset: (_, response) => void response.socket?.destroy(),
  "answer lost": async (pass, response) => {
    await pass();
    response.socket?.destroy();
  },
  truncated: async (pass, response) => {
    const { status, headers, body } = await pass();
    response.writeHead(status, { ...headers, "content-length": body.length });
    response.write(body.subarray(0, body.length >> 1), () => response.socket?.destroy());
  },
  corrupted: async (pass, response, _delayMs, random) => {
    const answer = await pass();
    const place = Math.floor(random() * answer.body.length);
    if (answer.body.length > 0) answer.body[place] = (answer.body[place] as number) ^ (1 << Math.floor(random() * 8));
    await send(answer, response);
  },
  garbage: (_, response, _delayMs, random) =>
    void response.writeHead(200).end(Buffer.from(Array.from({ length: 500 }, () => Math.floor(random() * 256)))),
} satisfies Record<string, Impose>;

export type ProxyFault = keyof typeof proxyFaults;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

type Impose = (
  pass: () => Promise<Answer>,
  response: ServerResponse,
  delayMs: number,
  random: () => number,
) => void | Promise<void>;

const send = async ({ status, headers, body }: Answer, response: ServerResponse) =>
  void response.writeHead(status, headers).end(body);

/** An HTTP proxy on this machine that damages answers. */
export interface FaultyProxy {
  readonly url: string;
  /** Damages a share of the answers from now on; undefined: none. */
  impose(fault: ProxyFault | undefined, random?: () => number, share?: number): void;
  stop(): Promise<void>;
}

/** @param delayMs delay of answers that are too slow */
export async function startFaultyProxy(target: string, delayMs: number): Promise<FaultyProxy> {
  let current: { fault: ProxyFault; random: () => number; share: number } | undefined;
  const server = createServer(async (incoming, response) => {
    response.on("error", () => {});
    const body = await buffer(incoming).catch(() => undefined);
    if (!body) return;
    const pass = () => forward(target, incoming, body);
    try {
      if (!current || current.random() >= current.share) return await send(await pass(), response);
      const impose: Impose = proxyFaults[current.fault];
      await impose(pass, response, delayMs, current.random);
    } catch {
      response.socket?.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    impose(fault, random = Math.random, share = 1) {
      current = fault && { fault, random, share };
      // A client would go on with connections on which nothing is answered.
      server.closeAllConnections();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sends a request on as it is, with its own Host, which S3 signs. */
async function forward(target: string, { url, method, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const outgoing = request(new URL(url ?? "", target), { method, headers, agent: false });
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 502, headers: response.headers, body: await buffer(response) };
}
