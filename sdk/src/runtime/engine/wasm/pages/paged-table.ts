import { BertEdgeError } from "../../../../artifact/error.ts";
import { toHex } from "../../../../artifact/hex.ts";
import { PREPARE_AGAIN } from "../../../../artifact/manifest.ts";
import { MODEL } from "../constants/memory.ts";
import type { TablePages, TokenTable } from "../ops/operand-reader.ts";
import { pageReader } from "./page-reader.ts";
import { rowCache } from "./row-cache.ts";
import { rowOrder } from "./row-order.ts";

/** Reads the bytes of a table's pages, which are one after the other. */
export type ReadPages = (begin: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;

/** A token embedding table in memory: its first rows, and others that were needed. */
export interface PagedTable {
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
 * @param memory has the model file up to its last tensor that is not a table
 * @param rowScales address of the scales of the rows in memory
 * @throws BertEdgeError `model_invalid` if the list of frequent tokens is wrong; when `fetch` runs, `artifact_corrupt`, and the errors of
 *   `read`
 */
export function pagedTable(
  memory: WebAssembly.Memory,
  { offset, rowBytes }: TokenTable,
  pages: TablePages,
  rowScales: number,
  read: ReadPages,
): PagedTable {
  const { resident, cached, rows, count } = pages;
  const bytesAt = (at: number, length: number) => new Uint8Array(memory.buffer, MODEL + at, length);
  const frequent = new Int32Array(bytesAt(pages.frequent, 4 * pages.frequentCount).slice().buffer);
  const hashes = bytesAt(pages.hashes, 32 * count).slice();
  assertDistinct(frequent, resident + pages.bytes / pages.rowBytes);
  bytesAt(rowScales - MODEL, 4 * resident).set(bytesAt(pages.scales, 4 * resident));
  const rowOf = rowOrder(frequent);
  const cache = rowCache(resident, cached);
  const reader = pageReader({
    ...{ bytes: rows * pages.rowBytes, size: pages.bytes },
    hashOf: (page) => toHex(hashes.subarray(32 * page, 32 * (page + 1))),
    read: ({ begin, end }) => read(begin, end),
  });
  const pageOf = (row: number) => Math.floor((row - resident) / rows);

  return {
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

/** Checks that tokens are in the vocabulary, and each only once. Otherwise two tokens could get the same row, or a token none. */
function assertDistinct(tokens: Int32Array, vocabulary: number): void {
  const isListed = new Uint8Array(vocabulary);
  for (const id of tokens) {
    if (isListed[id] === 0) isListed[id] = 1;
    else {
      const fault = isListed[id] === 1 ? "twice" : `outside of the vocabulary of ${vocabulary}`;
      throw new BertEdgeError("model_invalid", `The model file lists the frequent token ${id} ${fault}.`, {
        hint: PREPARE_AGAIN,
      });
    }
  }
}
