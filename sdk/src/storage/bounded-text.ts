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

/** Reads a stream as `boundedText` reads a body. */
export async function textUpTo(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<string | undefined> {
  const reader = pieceReader(stream, maxBytes + 1);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { value, done } = await reader.read();
    bytes += value?.length ?? 0;
    if (bytes > maxBytes) {
      await reader.cancel("The content is too large.").catch(() => {});
      return undefined;
    }
    if (value) text += decoder.decode(value, { stream: true });
    if (done) return text + decoder.decode();
  }
}
