import { connect, type Socket } from "node:net";
import { answerReader, type HttpAnswer } from "./answer-reader.ts";

/** A connection that stays open, and opens again for the next request if it was closed. */
export interface Connection {
  /**
   * Sends a request. The one before it must have been answered.
   *
   * @throws Error if the connection is lost, with Node's code of the error, or `CLOSED`
   */
  ask(request: Buffer): Promise<HttpAnswer>;
  close(): void;
}

export function connection(url: string): Connection {
  let socket: Socket | undefined;
  let waiting: PromiseWithResolvers<HttpAnswer> | undefined;

  function open(): Socket {
    const opened = socketTo(url);
    const lose = (error: Error) => {
      if (socket !== opened) return;
      socket = undefined;
      opened.destroy();
      waiting?.reject(error);
    };
    const read = answerReader((answer) => waiting?.resolve(answer));
    opened.on("data", (part: Buffer) => {
      try {
        read(part);
      } catch (error) {
        lose(error as Error);
      }
    });
    opened.on("error", lose);
    opened.on("close", () => lose(Object.assign(new Error("The server closed the connection."), { code: "CLOSED" })));
    return opened;
  }

  return {
    ask(request) {
      waiting = Promise.withResolvers();
      socket ??= open();
      socket.write(request);
      return waiting.promise;
    },
    close: () => void socket?.destroy(),
  };
}

/** Opens a socket to a server. */
export function socketTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), noDelay: true });
}
