/** An answer to a request. */
export interface HttpAnswer {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: Buffer;
}

const HEAD_END = "\r\n\r\n";
const LINE_END = "\r\n";

/**
 * Reads the answers that arrive on a connection, and calls `onAnswer` with each. It does less than Node's HTTP client, whose time would be
 * missing where caller and server share a CPU core.
 *
 * @returns a function that takes what has arrived
 * @throws Error from that function if an answer has neither `content-length` nor chunks
 */
export function answerReader(onAnswer: (answer: HttpAnswer) => void): (part: Buffer) => void {
  let received: Buffer = Buffer.alloc(0);
  return (part) => {
    received = received.length === 0 ? part : Buffer.concat([received, part]);
    for (let end = received.indexOf(HEAD_END); end >= 0; end = received.indexOf(HEAD_END)) {
      const head = received.toString("latin1", 0, end);
      const found = bodyOf(head, received.subarray(end + HEAD_END.length));
      if (!found) return;
      received = found.rest;
      onAnswer({ status: Number(head.slice(9, 12)), head, body: found.body });
    }
  };
}

/** Returns the value of a header; undefined if the head does not have it. */
export const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`^${name}: *(.*?)\r?$`, "im").exec(head)?.[1];

/** Returns a body, and what follows it; undefined while it is not complete. */
function bodyOf(head: string, bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const length = headerOf(head, "content-length");
  if (length !== undefined) {
    const size = Number(length);
    return bytes.length < size ? undefined : { body: bytes.subarray(0, size), rest: bytes.subarray(size) };
  }
  if (headerOf(head, "transfer-encoding") === "chunked") return chunksOf(bytes);
  throw new Error(`The answer has no length:\n${head}`);
}

function chunksOf(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf(LINE_END, at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16);
    const start = line + LINE_END.length;
    const next = start + size + LINE_END.length;
    if (bytes.length < next) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(next) };
    chunks.push(bytes.subarray(start, start + size));
    at = next;
  }
}
