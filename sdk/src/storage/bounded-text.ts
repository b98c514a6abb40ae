import { type PieceReader, pieceReader } from "./piece-reader.ts";

/**
 * Reads the body of a response as UTF-8, and stops as soon as it is larger than `maxBytes`.
 *
 * @returns undefined when the body is larger
 */
export async function boundedText({ body, headers }: Response, maxBytes: number): Promise<string | undefined> {
  if (!body) return "";
  // Compression only makes the declared size smaller than the body, so no valid body is refused here.
  if (Number(headers.get("content-length") ?? 0) <= maxBytes) return textUpTo(body, maxBytes);
  await body.cancel().catch(() => {});
  return undefined;
}

interface Reading {
  /** Size of the read buffer in bytes, which `pieceReader` limits. Default: `maxBytes` + 1. */
  readonly bufferBytes?: number;
  /** Called with the number of bytes that have arrived so far, before they are decoded. If it throws, the reading ends with its error. */
  readonly arrived?: (bytes: number) => void;
  /** Promise that ends the reading when it rejects. Default: none. */
  readonly late?: Promise<never>;
}

/**
 * Reads a stream as UTF-8, and stops as soon as it is larger than `maxBytes`.
 *
 * @returns undefined when the stream is larger
 */
export async function textUpTo(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  { bufferBytes = maxBytes + 1, arrived = () => {}, late }: Reading = {},
): Promise<string | undefined> {
  const reader = pieceReader(stream, bufferBytes);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  const read = late ? readsUntil(late, reader) : () => reader.read();
  try {
    for (;;) {
      const { value, done } = await read();
      bytes += value?.length ?? 0;
      if (bytes > maxBytes) {
        await reader.cancel("The content is too large.").catch(() => {});
        return undefined;
      }
      arrived(bytes);
      if (value) text += decoder.decode(value, { stream: true });
      if (done) return text + decoder.decode();
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

/**
 * Returns a function that reads the next piece, and fails as soon as `late` rejects. `Promise.race` would leave a reaction at `late` for
 * each piece until the end of the body, and the sender chooses how small the pieces are.
 */
function readsUntil(late: Promise<never>, reader: PieceReader): PieceReader["read"] {
  let end: { readonly error: unknown } | undefined;
  let fail: (error: unknown) => void = () => {};
  late.catch((error: unknown) => {
    end = { error };
    fail(error);
  });
  return () =>
    new Promise((resolve, reject) => {
      fail = reject;
      if (end) reject(end.error);
      else reader.read().then(resolve, reject);
    });
}
