import { BertEdgeError } from "../../../../artifact/error.ts";
import { sha256Hex } from "../../../../artifact/sha256.ts";
import { withDeadline } from "../../../../artifact/with-deadline.ts";
import { MAX_PAGE_READS } from "../../engine.ts";

/** Pages of rows, one after the other. The last page may be shorter. */
export interface Pages {
  /** Bytes of a page. */
  readonly bytes: number;
  /** Bytes of all pages. */
  readonly size: number;
  /** Returns the SHA-256 of a page, in hexadecimal digits. */
  readonly hashOf: (page: number) => string;
  readonly read: ReadPages;
}

/** Reads the bytes from `begin` up to, but not including, `end`, counted from the first page on. */
export type ReadPages = (begin: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;

/** Runs of pages that are read as one range each. */
export function rangesOf(pages: readonly number[]): (readonly [first: number, last: number])[] {
  const ranges: [number, number][] = [];
  for (const page of [...new Set(pages)].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && range[1] === page - 1) range[1] = page;
    else ranges.push([page, page]);
  }
  return ranges;
}

/**
 * Maximum milliseconds to wait for a page. Without this limit a wait could be endless: on Workers, a read stops without an error when the
 * request that started it ends.
 */
const LATE_MS = 10_000;

export interface PageReader {
  /**
   * Reads pages, and returns each by its number. Resolves or rejects when no range of these pages is being read any more.
   *
   * @throws BertEdgeError `artifact_corrupt` if the hash of a page is wrong, `storage_unavailable` if it does not arrive in time, and the
   *   errors of `Pages.read`
   */
  read(pages: readonly number[]): Promise<Map<number, Uint8Array<ArrayBuffer>>>;
  /** Number of ranges of these pages that must arrive, also if other callers are reading them. */
  ranges(pages: readonly number[]): number;
}

/** A range of pages that is being read. */
interface Reading {
  /** The bytes of each page, from the first one on. */
  readonly pages: readonly Promise<Uint8Array<ArrayBuffer>>[];
  readonly first: number;
  /** Forgets the range, so that it is read again when a page is wanted. */
  forget(): void;
}

/** Reads pages and checks their hashes. A page that several callers want at the same time is read once. */
export function pageReader({ bytes, size, hashOf, read }: Pages): PageReader {
  const arriving = new Map<number, Reading>();
  const waiting: (() => void)[] = [];
  let reading = 0;

  /** Starts to read a range of pages. */
  function start(first: number, last: number): void {
    const numbers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const begin = first * bytes;
    const end = Math.min((last + 1) * bytes, size);
    const turn = Promise.withResolvers<void>();
    if (reading === MAX_PAGE_READS) waiting.push(turn.resolve);
    else {
      reading++;
      turn.resolve();
    }
    const arrived = turn.promise.then(() => read(begin, end));
    const pages = numbers.map(async (page) => {
      const found = await arrived;
      const part = found.subarray(page * bytes - begin, Math.min((page + 1) * bytes, size) - begin);
      if (found.length === end - begin && (await sha256Hex(part)) === hashOf(page)) return part;
      throw damaged(page);
    });
    let isOver = false;
    const range: Reading = {
      ...{ pages, first },
      forget() {
        if (isOver) return;
        isOver = true;
        for (const page of numbers) if (arriving.get(page) === range) arriving.delete(page);
        const place = waiting.indexOf(turn.resolve);
        if (place >= 0) waiting.splice(place, 1);
        else if (waiting.length > 0) waiting.shift()?.();
        else reading--;
      },
    };
    for (const page of numbers) arriving.set(page, range);
    // Errors are those of the callers.
    void Promise.allSettled(pages).then(range.forget);
  }

  const missing = (pages: readonly number[]) => rangesOf(pages.filter((page) => !arriving.has(page)));

  async function readOnce(pages: readonly number[]): Promise<Map<number, Uint8Array<ArrayBuffer>>> {
    for (const [first, last] of missing(pages)) start(first, last);
    const ranges = new Set(pages.map((page) => arriving.get(page) as Reading));
    const wanted = [...new Set(pages)].map(async (page) => {
      const { pages: found, first } = arriving.get(page) as Reading;
      return [page, (await found[page - first]) as Uint8Array<ArrayBuffer>] as const;
    });
    const late = () => {
      for (const range of ranges) range.forget();
      return tooLate();
    };
    // On Workers, the reads that a request has started stop when it ends, and others may wait for them.
    const ended = Promise.allSettled(wanted).then(() => Promise.all(wanted));
    return new Map(await withDeadline(ended, LATE_MS, late));
  }

  return {
    ranges: (pages) => rangesOf(pages).length,
    async read(pages) {
      const joins = pages.some((page) => arriving.has(page));
      try {
        return await readOnce(pages);
      } catch (error) {
        // A read that fails concerns only the caller that has started it.
        if (!joins) throw error;
        return readOnce(pages);
      }
    },
  };
}

const tooLate = (): BertEdgeError =>
  new BertEdgeError("storage_unavailable", `Pages of the token embedding table did not arrive within ${LATE_MS} ms.`, {
    hint: "Send the request again. If this happens again, check the store that the model is read from.",
  });

const damaged = (page: number): BertEdgeError =>
  new BertEdgeError("artifact_corrupt", `Page ${page} of the token embedding table does not match its SHA-256.`, {
    hint: "In a store, repair it with `bert-edge publish --verify`, which writes damaged objects again.",
  });
