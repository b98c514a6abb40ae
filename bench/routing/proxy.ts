import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { randomNumbers } from "#test/fixtures/seeded.ts";

/** State of the line between edge and region. Times are in milliseconds, shares are between 0 and 1. */
export interface Line {
  /** Delay in each direction. */
  readonly delayMs: number;
  /** Maximum additional delay of a piece of data. It is drawn for each piece. */
  readonly jitterMs: number;
  /** Share of the pieces that arrive `STALL_MS` later, as after a lost packet. */
  readonly stalls: number;
  /** Share of the pieces that end their connection. */
  readonly resets: number;
  /** Factor by which the region's time is lengthened. */
  readonly slowness: number;
  /** Refuses connections. */
  readonly isDown: boolean;
  /** Answers in the region's place. */
  readonly impostor: RequestListener | undefined;
}

/** Minimum time after which Linux sends a lost packet again (TCP_RTO_MIN). */
const STALL_MS = 200;

const perfectLine: Line = {
  delayMs: 0,
  jitterMs: 0,
  stalls: 0,
  resets: 0,
  slowness: 1,
  isDown: false,
  impostor: undefined,
};

/** A request that arrived at the proxy. Times are of `performance.now()`. */
interface Passage {
  readonly path: string;
  readonly at: number;
  /** When its connection was opened. */
  readonly openedAt: number;
  /** Whether it is the first request of its connection. */
  readonly isFirst: boolean;
}

export interface RegionProxy {
  readonly url: string;
  /** Requests in the order of their arrival, before any delay. */
  readonly passages: readonly Passage[];
  /** Changes the line, and resets all open connections. Parts that are left out are perfect. */
  change(line: Partial<Line>): void;
  /** Resets all open connections. */
  cut(): void;
  /** Leads new connections to another address. */
  leadTo(target: string): void;
  stop(): Promise<void>;
}

/** First line of a request. Bodies are JSON, in which no line starts like this. */
const REQUEST_LINE = /^(?:GET|POST) (\S+) HTTP\/1\.1\r\n/;

/** Starts a TCP proxy in front of an HTTP server, with a perfect line. */
export async function startProxy(target: string, seed = 1): Promise<RegionProxy> {
  const random = randomNumbers(seed);
  const passages: Passage[] = [];
  const open = new Set<Socket>();
  let line = perfectLine;
  let impostor: HttpServer | undefined;
  let address = new URL(target);

  const keep = (socket: Socket) => {
    open.add(socket);
    socket
      .setNoDelay()
      .on("error", () => {})
      .once("close", () => open.delete(socket));
  };
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };

  /** Passes data on, in order and after the delays of the line. `extraMs` is added to every piece. */
  function pass(from: Socket, to: Socket, extraMs: () => number): void {
    let earliest = 0;
    const later = (run: () => void) => {
      const stall = random() < line.stalls ? STALL_MS : 0;
      const delay = line.delayMs + random() * line.jitterMs + stall + extraMs();
      const due = Math.max(earliest, performance.now() + delay);
      earliest = due;
      const wait = due - performance.now();
      if (wait <= 0) run();
      else setTimeout(run, wait);
    };
    from.on("data", (bytes) => {
      if (random() < line.resets) {
        from.resetAndDestroy();
        to.resetAndDestroy();
      } else later(() => to.writable && to.write(bytes));
    });
    from.on("end", () => later(() => to.end()));
    from.once("close", (failed) => failed && to.resetAndDestroy());
  }

  const server = createServer((socket) => {
    keep(socket);
    if (line.isDown) return socket.resetAndDestroy();
    const openedAt = performance.now();
    let requests = 0;
    let askedAt = openedAt;
    socket.on("data", (bytes) => {
      askedAt = performance.now();
      const path = REQUEST_LINE.exec(bytes.toString("latin1", 0, 1_000))?.[1];
      if (path !== undefined) passages.push({ path, at: askedAt, openedAt, isFirst: requests++ === 0 });
    });
    if (impostor) return impostor.emit("connection", socket);
    const region = connect(Number(address.port), address.hostname);
    keep(region);
    let isAnswering = false;
    let slowedMs = 0;
    socket.on("data", () => {
      isAnswering = false;
    });
    pass(socket, region, () => 0);
    return pass(region, socket, () => {
      if (!isAnswering) slowedMs = (line.slowness - 1) * (performance.now() - askedAt);
      isAnswering = true;
      return slowedMs;
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passages,
    change(parts) {
      line = { ...perfectLine, ...parts };
      impostor = line.impostor && createHttpServer(line.impostor);
      cut();
    },
    cut,
    leadTo(target) {
      address = new URL(target);
    },
    async stop() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
