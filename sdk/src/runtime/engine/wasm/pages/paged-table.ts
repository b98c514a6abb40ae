import { MODEL } from "../constants/memory.ts";
import type { TablePages, TokenTable } from "../ops/operand-reader.ts";
import { pageReader, type ReadPages } from "./page-reader.ts";
import { rowCache } from "./row-cache.ts";
import { rowOrder } from "./row-order.ts";

/** A token embedding table in memory: its first rows, and others that were needed. */
export interface PagedTable {
  /** Must be called before rows are used, when the scales of the file's rows are in memory. */
  begin(): void;
  /** Returns the rows of these tokens that are not in memory, each once. Marks the others as used. */
  absent(ids: Iterable<number>): number[];
  /** Number of ranges of the pages that must be read for these rows. */
  reads(rows: readonly number[]): number;
  /** Reads rows from the pages. */
  fetch(rows: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>;
  /** Puts rows into memory that are absent. They take the places of rows that have not been used for the longest time. */
  keep(rows: ReadonlyMap<number, Uint8Array>): void;
  /** Returns the row of a token. */
  rowOf(id: number): number;
  /** Returns the place of a token's row, which must be in memory. */
  placeOf(id: number): number;
}

/**
 * @param rowScales address of the scales of the rows in memory
 * @throws BertEdgeError when `fetch` runs: `artifact_corrupt`, and the errors of `read`
 */
export function pagedTable(
  memory: WebAssembly.Memory,
  { offset, rowBytes }: TokenTable,
  pages: TablePages,
  rowScales: number,
  read: ReadPages,
): PagedTable {
  const { resident, cached, rows } = pages;
  const bytesAt = (at: number, length: number) => new Uint8Array(memory.buffer, MODEL + at, length);
  const rowOf = rowOrder(pages.frequent);
  const cache = rowCache(resident, cached);
  const reader = pageReader({
    ...{ bytes: rows * pages.rowBytes, size: pages.bytes },
    hashOf: (page) => pages.hashes[page] as string,
    read,
  });
  const pageOf = (row: number) => Math.floor((row - resident) / rows);

  return {
    begin: () => bytesAt(rowScales - MODEL, 4 * resident).set(bytesAt(pages.scales, 4 * resident)),
    rowOf,
    absent(ids) {
      const found = new Set<number>();
      for (const id of ids) {
        const row = rowOf(id);
        if (cache.placeOf(row) === undefined) found.add(row);
      }
      return [...found];
    },
    reads: (wanted) => reader.ranges(wanted.map(pageOf)),
    async fetch(wanted) {
      const found = await reader.read(wanted.map(pageOf));
      return new Map(
        wanted.map((row) => {
          const begin = ((row - resident) % rows) * pages.rowBytes;
          // A copy, so that the page can be freed.
          return [row, (found.get(pageOf(row)) as Uint8Array).slice(begin, begin + pages.rowBytes)];
        }),
      );
    },
    keep(found) {
      for (const [row, bytes] of found) {
        if (cache.placeOf(row) !== undefined) continue;
        const place = cache.take(row);
        bytesAt(offset + place * rowBytes, rowBytes).set(bytes.subarray(0, rowBytes));
        bytesAt(rowScales - MODEL + 4 * place, 4).set(bytes.subarray(rowBytes));
      }
    },
    placeOf: (id) => cache.placeOf(rowOf(id)) as number,
  };
}
