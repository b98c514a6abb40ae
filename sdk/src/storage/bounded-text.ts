import { pieceReader } from "./piece-reader.ts";

/**
 * Reads the body of a response as UTF-8, and stops as soon as it is larger than `maxBytes`.
 *
 * @returns undefined when the body is larger
 */
export async function boundedText({ body, headers }: Response, maxBytes: number): Promise<string | undefined> {
  if (!body) return "";
  // A compressed body is larger than its declared size, never smaller.
  if (Number(headers.get("content-length") ?? 0) <= maxBytes) return textUpTo(body, maxBytes);
  await body.cancel().catch(() => {});
  return undefined;
}

interface Reading {
  /** Size of the buffer in bytes. Default: the whole content, up to that of `pieceReader`. */
  readonly bufferBytes?: number;
  /** Is told how many bytes have arrived, before they are kept. An error that it throws ends the reading. */
  readonly arrived?: (bytes: number) => void;
  /** Ends the reading when it rejects. Default: never. */
  readonly late?: Promise<never>;
}

/** Reads a stream as `boundedText` reads a body. */
export async function textUpTo(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  { bufferBytes = maxBytes + 1, arrived = () => {}, late }: Reading = {},
): Promise<string | undefined> {
  const reader = pieceReader(stream, bufferBytes);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { value, done } = await (late ? Promise.race([reader.read(), late]) : reader.read());
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
