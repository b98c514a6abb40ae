import { type ChunkLimits, chunker, type LineChunk } from "../../bulk/chunker.ts";
import { type InputLine, lineSplitter } from "../../bulk/line-splitter.ts";
import { type HashedPrefix, prefixHash } from "./hashed-file.ts";
import { jobChanged } from "./job-files.ts";

/** A place in a file where a line begins. */
export interface LinePlace {
  readonly prefix: HashedPrefix;
  /** Number of lines before this place. */
  readonly lines: number;
}

export interface ReadChunk extends LineChunk {
  /** The place after the chunk. Valid until the next chunk is read. */
  end(): LinePlace;
}

const LINE_FEED = 10;

/**
 * Reads the chunks of a file after a place. Also reads the bytes before the place, and compares them with the place's hash.
 *
 * @param pieces the bytes of the whole file
 * @param name names the file in messages
 * @throws BertEdgeError `job_changed` when the bytes before the place have changed
 */
export async function* readChunks(
  pieces: AsyncIterable<Uint8Array>,
  { from, limits, name }: { from: LinePlace; limits: ChunkLimits; name: string },
): AsyncGenerator<ReadChunk> {
  const hash = prefixHash();
  const splitter = lineSplitter(from.lines + 1);
  const chunks = chunker(limits);
  let lines = from.lines;
  /** Offset in bytes at which the unfinished line begins. */
  let position = from.prefix.bytes;
  /** Last byte of the part that an earlier run has read. */
  let lastKnown: number | undefined;

  function after(line: InputLine): ReadChunk | undefined {
    position += line.size;
    return described(chunks.push(line));
  }
  function described(chunk: LineChunk | undefined): ReadChunk | undefined {
    lines += chunk?.lines.length ?? 0;
    return chunk && { ...chunk, end: () => ({ prefix: hash.current(), lines }) };
  }

  for await (const whole of pieces) {
    const known = Math.max(Math.min(whole.length, from.prefix.bytes - hash.bytes()), 0);
    if (known > 0) {
      hash.update(whole.subarray(0, known));
      lastKnown = whole[known - 1];
      if (hash.bytes() === from.prefix.bytes && hash.current().sha256 !== from.prefix.sha256) {
        throw jobChanged(`The first ${from.lines} lines of ${name} have changed.`);
      }
    }
    let piece = whole.subarray(known);
    if (piece.length === 0) continue;
    if (lastKnown !== undefined && lastKnown !== LINE_FEED) {
      if (piece[0] !== LINE_FEED) throw jobChanged(`Line ${from.lines} of ${name} has grown since an earlier run.`);
      // The earlier run ended with a line without a line feed. The first new byte is this line feed.
      hash.update(piece.subarray(0, 1));
      position++;
      piece = piece.subarray(1);
    }
    lastKnown = undefined;
    const start = hash.bytes();
    for (const line of splitter.push(piece)) {
      const chunk = after(line);
      if (!chunk) continue;
      // The hash stops where the chunk ends, so that a later run can begin there.
      hash.update(piece.subarray(hash.bytes() - start, position - start));
      yield chunk;
    }
    hash.update(piece.subarray(hash.bytes() - start));
  }
  if (hash.bytes() < from.prefix.bytes) {
    throw jobChanged(`${name} is shorter than before: it had at least ${from.prefix.bytes} bytes.`);
  }
  for (const chunk of [...splitter.end().map(after), described(chunks.end())]) if (chunk) yield chunk;
}
