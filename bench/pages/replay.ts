import { type EngineSession, MAX_PAGE_READS, type TokenIds } from "#sdk/runtime/engine/engine.ts";
import { type RowCache, rowCache } from "#sdk/runtime/engine/wasm/pages/row-cache.ts";
import { type Forms, loadPaged, loadWhole } from "./forms.ts";

/** A request with one text. */
export interface Request {
  readonly language: string;
  readonly ids: TokenIds;
}

/** What a request had to read. */
export interface Reading {
  readonly request: Request;
  /** Number of rows that were not in memory. */
  readonly rows: number;
  /** Number of ranges that were read, at most `MAX_PAGE_READS` at a time. */
  readonly reads: number;
  readonly waves: number;
  /** Milliseconds until the rows were there. */
  readonly ms: number;
}

export interface Replay {
  /** One for each request, in their order. */
  readonly readings: readonly Reading[];
  readonly evictions: number;
  readonly memoryBytes: number;
  /** Requests that read although all of their rows should have been in memory, or the reverse. */
  readonly differences: number;
}

/** Sends requests to a model in pages, one after the other, and measures what they read. They are not computed. */
export async function replay(forms: Forms, requests: readonly Request[], roundTripMs: number): Promise<Replay> {
  const session = await loadPaged(forms, roundTripMs);
  // Rows are kept by a fixed rule, so a second cache tells which ones and how many.
  const cache = rowCache(forms.rows.resident, forms.rows.cached);
  const readings: Reading[] = [];
  try {
    await session.complete;
    for (const request of requests) {
      const rows = keep(cache, new Set([...request.ids].map(forms.rowOf)));
      readings.push({ request, rows, ...(await read(session, request)) });
    }
    return {
      readings,
      evictions: cache.evictions(),
      memoryBytes: session.memoryBytes() as number,
      differences: readings.filter(({ rows, reads }) => rows > 0 !== reads > 0).length,
    };
  } finally {
    await session.release();
  }
}

async function read(session: EngineSession, { ids }: Request): Promise<Pick<Reading, "reads" | "waves" | "ms">> {
  const reads = session.pageReads?.([ids]) as number;
  const start = performance.now();
  await session.ready?.([ids]);
  return { reads, waves: Math.ceil(reads / MAX_PAGE_READS), ms: performance.now() - start };
}

/** Takes places for rows that are not in memory. Returns their number. */
function keep(cache: RowCache, rows: ReadonlySet<number>): number {
  const absent = [...rows].filter((row) => cache.placeOf(row) === undefined);
  for (const row of absent) cache.take(row);
  return absent.length;
}

/** Counts the requests whose vectors differ between the whole table and the one in pages by a bit. */
export async function differentVectors(forms: Forms, requests: readonly Request[]): Promise<number> {
  const sessions = [await loadWhole(forms), await loadPaged(forms, 0)];
  let different = 0;
  try {
    for (const { ids } of requests) {
      const [one, other] = await Promise.all(sessions.map((session) => session.run([ids], HEAD)));
      if (Buffer.compare(bytesOf(one), bytesOf(other)) !== 0) different++;
    }
  } finally {
    for (const session of sessions) await session.release();
  }
  return different;
}

const HEAD = { pooling: "mean", normalize: true } as const;

const bytesOf = ([vector]: readonly Float32Array[] = []): Uint8Array => {
  if (!vector) throw new Error("The engine gave no vector.");
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
};
