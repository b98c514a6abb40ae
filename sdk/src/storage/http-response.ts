import type { ByteRange } from "./store.ts";

/** Whether a response with this status is a redirect. Status 0 is a redirect that a browser does not describe. */
export const isRedirect = (status: number | undefined): boolean =>
  status === 0 || (status !== undefined && status >= 300 && status < 400);

/** Returns the header that asks for a range: https://www.rfc-editor.org/rfc/rfc9110#name-range */
export const rangeHeader = ({ begin, end }: ByteRange): { range: string } => ({ range: `bytes=${begin}-${end - 1}` });

/**
 * Returns the bytes of a range from a server's answer. A server may ignore a range, and answer with the whole object and the status
 * 200: then the bytes before and after the range are skipped.
 */
export function rangeOf(response: Response, range: ByteRange | undefined): ReadableStream<Uint8Array> {
  const body: ReadableStream<Uint8Array> = response.body ?? new Blob().stream();
  return range && response.status !== 206 ? body.pipeThrough(onlyBytes(range)) : body;
}

/** Passes on only the bytes of a range. */
export function onlyBytes({ begin, end }: ByteRange): TransformStream<Uint8Array, Uint8Array> {
  let at = 0;
  return new TransformStream({
    transform(piece, controller) {
      const part = piece.subarray(Math.max(begin - at, 0), Math.max(end - at, 0));
      at += piece.length;
      // A copy, because the stream may use the piece's memory again.
      if (part.length > 0) controller.enqueue(part.slice());
      if (at >= end) controller.terminate();
    },
  });
}
