import type { InputLine } from "./line-splitter.ts";

/**
 * Limits of a chunk. A chunk ends with the line that reaches one of them. So its end depends only on the lines since its
 * start, and reading can begin again at any chunk.
 */
export interface ChunkLimits {
  readonly lines: number;
  readonly bytes: number;
  /** Sum of the lines' `costOf` at which a chunk ends. Default: no limit. */
  readonly cost?: number;
  readonly costOf?: (line: InputLine) => number;
}

/** Lines that are embedded together. */
export interface LineChunk {
  readonly lines: readonly InputLine[];
  /** Bytes of the chunk in its file. */
  readonly size: number;
}

/** Collects the lines of a file into chunks. */
export function chunker({ lines: maxLines, bytes, cost: maxCost = Number.POSITIVE_INFINITY, costOf }: ChunkLimits) {
  let lines: InputLine[] = [];
  let size = 0;
  let cost = 0;
  /** Returns the last chunk, if it has lines. */
  function end(): LineChunk | undefined {
    const chunk = lines.length > 0 ? { lines, size } : undefined;
    [lines, size, cost] = [[], 0, 0];
    return chunk;
  }
  return {
    end,
    /** Adds a line. Returns the chunk that ends with it, if one does. */
    push(line: InputLine): LineChunk | undefined {
      lines.push(line);
      size += line.size;
      cost += costOf?.(line) ?? 0;
      return lines.length >= maxLines || size >= bytes || cost >= maxCost ? end() : undefined;
    },
  };
}
