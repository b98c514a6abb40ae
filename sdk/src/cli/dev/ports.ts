import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { BertEdgeError } from "../../artifact/error.ts";
import { printNote } from "../output.ts";

/**
 * Returns the port for the edge. If the default port is in use, takes any free port and says so.
 *
 * @param chosen whether the user has chosen this port
 * @throws BertEdgeError `setting_invalid` if the user's port is in use
 */
export async function edgePort(port: number, { chosen }: { chosen: boolean }): Promise<number> {
  if (await isFree(port)) return port;
  if (chosen) {
    throw new BertEdgeError("setting_invalid", `--port ${port} is in use by another program.`, {
      hint: `Give another port, leave --port out, or stop that program. \`lsof -i :${port}\` shows it.`,
    });
  }
  const other = await freePort();
  printNote(`Port ${port} is in use, so the edge uses ${other}.`);
  return other;
}

/**
 * Whether nothing listens at a port.
 *
 * @throws BertEdgeError `setting_invalid` if this user may not listen at it
 */
export const isFree = async (port: number): Promise<boolean> => (await listenOnce(port)) !== undefined;

/**
 * Range of the random ports of `freePort`. Operating systems give higher ports to outgoing connections, which could take the port
 * before a service listens at it.
 */
const [FIRST_PORT, LAST_PORT] = [15_000, 29_999];
/** Maximum number of random ports to try. Then the operating system chooses a free port. */
const TRIES = 20;

/** Returns a port at which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isFree(port)) return port;
  }
  return (await listenOnce(0)) as number;
}

/** Listens at a port for a moment. Returns the port, or undefined if it is in use. Port 0 is any free port. */
async function listenOnce(preferred: number): Promise<number | undefined> {
  const server = createServer().listen(preferred, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EADDRINUSE") return undefined;
    throw new BertEdgeError("setting_invalid", `Port ${preferred} cannot be used.`, {
      hint: "Give another --port.",
      cause,
    });
  }
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
