import { once } from "node:events";
import { connect } from "node:net";

/** Clients that each send the same request again as soon as it is answered. */
export interface Flood {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly clients: number;
  /** Requests of all clients together. */
  readonly requests: number;
}

/**
 * Sends requests over one connection a client and returns the time in ms until all are answered. It only looks for the end of
 * each answer, since Node's HTTP client takes more time than the Worker that it would measure.
 *
 * @throws Error if an answer's status is not 200, or if it has no `content-length`
 */
export async function flood({ url, body, headers, clients, requests }: Flood): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const lines = { host: `${hostname}:${port}`, "content-type": "application/json", ...headers };
  const request = [
    `POST ${pathname} HTTP/1.1`,
    ...Object.entries({ ...lines, "content-length": Buffer.byteLength(body) }).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    "",
    body,
  ].join("\r\n");
  let left = requests;
  const start = performance.now();

  async function client(): Promise<void> {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    try {
      await once(socket, "connect");
      let received = "";
      socket.setEncoding("latin1");
      const ended = new Promise<void>((resolve, reject) => {
        const next = () => (left-- > 0 ? socket.write(request) : resolve());
        socket.on("error", reject);
        socket.on("close", () => reject(new Error("The Worker closed the connection.")));
        socket.on("data", (part: string) => {
          received += part;
          const size = sizeOf(received);
          if (size === undefined || received.length < size) return;
          if (!received.startsWith("HTTP/1.1 200")) return reject(new Error(received.slice(0, 1_000)));
          received = "";
          next();
        });
        next();
      });
      await ended;
    } finally {
      socket.destroy();
    }
  }

  await Promise.all(Array.from({ length: clients }, client));
  return performance.now() - start;
}

/** Returns the bytes of an answer with its headers; undefined while its headers are not complete. */
function sizeOf(received: string): number | undefined {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(received.slice(0, end + 2)) ?? [];
  if (length === undefined) throw new Error(`The answer has no content-length:\n${received.slice(0, end)}`);
  return end + 4 + Number(length);
}
