/** Read at a time where a stream takes buffers: from 64 KiB to 1 MiB workerd is equally fast. */
const PIECE_BYTES = 256 * 1024;

interface PieceReader {
  /** The next piece, valid until the next call; with `done`, the last one, if any. */
  read(): Promise<{ value?: Uint8Array | undefined; done: boolean }>;
  /** Gives up, also while a read is under way. */
  cancel(reason: unknown): Promise<void>;
}

/**
 * Reads a stream through one buffer that is used again and again, if the stream can: workerd gives new ones of 4 KiB
 * otherwise, which takes more than twice as long (docs/decisions/0008). `min` stays out of it: where less is left in a
 * stream that was closed, reading throws.
 */
export function pieceReader(stream: ReadableStream<Uint8Array>): PieceReader {
  const reader = bufferReader(stream);
  if (!reader) return stream.getReader();
  let buffer = new ArrayBuffer(PIECE_BYTES);
  return {
    async read() {
      const result = await reader.read(new Uint8Array(buffer));
      if (result.value) buffer = result.value.buffer;
      return result;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function bufferReader(stream: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return stream.getReader({ mode: "byob" });
  } catch {
    return undefined;
  }
}
