import { BertEdgeError } from "../../../../artifact/error.ts";
import { nextTurn } from "../../../../artifact/next-turn.ts";
import { inOrder, oneByOne, sequencesOf } from "../../batching.ts";
import type { EngineSession, TokenSequence, VectorHead } from "../../engine.ts";
import { attendedOf, idsOf, pooledFromOf, secondFromOf } from "../../token-sequence.ts";
import type { TablePages } from "../ops/operand-reader.ts";
import type { ReadPages } from "../pages/page-reader.ts";
import { type PagedTable, pagedTable } from "../pages/paged-table.ts";
import { ensure } from "./allocate.ts";
import { checkSequences } from "./check-sequences.ts";
import type { CheckedProgram } from "./checked-program.ts";
import type { Kernels } from "./kernels.ts";
import { BATCH_TOKENS } from "./layout.ts";
import { run } from "./machine.ts";
import { roomFor } from "./room.ts";
import { segmentsOf } from "./segments.ts";
import { shapeOf } from "./shape-of.ts";
import type { ProgramValue } from "./values.ts";

/** Number of float32 numbers that pooling kernels read and write at a time. */
const POOLED_MULTIPLE = 4;

const batches = inOrder(BATCH_TOKENS);

/** A session of this engine. */
export interface WasmSession extends EngineSession {
  /** Returns how many rows of the file's token embedding table, from the first on, these sequences need. */
  firstRows(sequences: readonly TokenSequence[]): number;
  /** Must be called before `run`, when all of the file is in memory that every text needs. */
  begin(): void;
}

/**
 * Creates a session of a model whose file is in memory, or arrives there.
 *
 * @param file size of the model file in bytes
 * @param readPages reads the pages of a table that is not whole in the file
 * @throws BertEdgeError `memory_full`
 */
export function createSession(
  memory: WebAssembly.Memory,
  kernels: Kernels,
  program: CheckedProgram,
  file: number,
  readPages: ReadPages,
): WasmSession {
  const machine = { memory, kernels, program, segments: segmentsOf(program) };
  const { of, width } = program.values[program.output] as ProgramValue;

  const makeRoom = (tokens: number) => {
    const found = roomFor(machine, program.fileBegins + file, tokens);
    ensure(memory, found.regions.end);
    return found;
  };
  let room = makeRoom(Math.min(BATCH_TOKENS, program.maxTokens));
  const inPages = program.tables.find((table) => table.pages);
  const table = inPages?.pages && pagedTable(memory, inPages, inPages.pages, room.regions.rowScales, readPages);

  /** Reads the rows that `sequences` need and that are not in memory, and then computes. */
  async function withRows<T>(paged: PagedTable, sequences: readonly TokenSequence[], compute: () => T): Promise<T> {
    const ids = tokensOf(sequences);
    const rows = new Map<number, Uint8Array>();
    const absent = () => paged.absent(ids).filter((row) => !rows.has(row));
    for (let wanted = absent(); wanted.length > 0; wanted = absent()) {
      for (const [row, bytes] of await paged.fetch(wanted)) rows.set(row, bytes);
    }
    // Without a pause since the last look, all rows that were in memory still are.
    paged.keep(rows);
    return compute();
  }

  /** Reads rows before their sequences run. If many rows are absent, it reads only the first ones: others would take their places. */
  async function readAhead(
    paged: PagedTable,
    { cached }: TablePages,
    sequences: readonly TokenSequence[],
  ): Promise<void> {
    const wanted = paged.absent(tokensOf(sequences)).slice(0, cached / 2);
    if (wanted.length > 0) paged.keep(await paged.fetch(wanted));
  }

  const runBatch = (sequences: readonly TokenSequence[], head: VectorHead | undefined): Float32Array<ArrayBuffer>[] => {
    const starts = [0];
    const seconds: number[] = [];
    for (const sequence of sequences) {
      const start = starts.at(-1) as number;
      seconds.push(start + secondFromOf(sequence));
      starts.push(start + idsOf(sequence).length);
    }
    const tokens = starts.at(-1) as number;
    if (tokens > room.layout.tokens) room = makeRoom(tokens);
    const { layout, regions } = room;
    const ids = new Int32Array(memory.buffer, regions.ids, tokens);
    sequences.forEach((sequence, i) => {
      ids.set(idsOf(sequence), starts[i]);
    });
    if (table) new Int32Array(memory.buffer, regions.places, tokens).set(ids.map(table.placeOf));
    run(machine, { layout, regions, starts, seconds, attended: sequences.map(attendedOf) });
    const floats = (at: number, count: number) => new Float32Array(memory.buffer.slice(at, at + 4 * count));
    const output = regions.values + (layout.offsets[program.output] as number);
    return sequences.map((sequence, i) => {
      const start = starts[i] as number;
      const [row, rows] = of === "token" ? [start, (starts[i + 1] as number) - start] : [i, 1];
      const at = output + 4 * width * row;
      if (!head) return floats(at, rows * width);
      const unpooled = of === "token" ? pooledFromOf(sequence) : 0;
      poolInto(kernels, head, at + 4 * width * unpooled, rows - unpooled, width, regions.vector);
      return floats(regions.vector, width);
    });
  };

  return {
    provider: "wasm",
    target: "edge",
    batches: oneByOne,
    shape: shapeOf(program),
    async run(sequences, head) {
      checkSequences(sequences, program);
      if (head && (width < POOLED_MULTIPLE || (head.normalize && width % POOLED_MULTIPLE !== 0))) {
        throw new BertEdgeError("model_invalid", `The model's output is ${width} numbers wide and cannot be pooled.`, {
          hint: `Normalized vectors need a width that is a multiple of ${POOLED_MULTIPLE}. Prepare the artifact again.`,
        });
      }
      const results: Float32Array<ArrayBuffer>[] = [];
      for (const [i, batch] of batches(sequences.map(idsOf)).entries()) {
        // Lets other requests and timers, such as deadlines, run between batches.
        if (i > 0) await nextTurn();
        const part = sequencesOf(sequences, batch);
        const compute = () => runBatch(part, head);
        results.push(...(table ? await withRows(table, part, compute) : compute()));
      }
      return results;
    },
    begin: () => table?.begin(),
    firstRows(sequences) {
      const rows = tokensOf(sequences).map((id) => table?.rowOf(id) ?? id);
      const resident = inPages?.pages?.resident ?? Number.POSITIVE_INFINITY;
      return rows.reduce((most, row) => (row < resident ? Math.max(most, row + 1) : most), 0);
    },
    ...(table && {
      ready: (sequences) => readAhead(table, inPages.pages as TablePages, sequences),
      pageReads: (sequences) => table.reads(table.absent(tokensOf(sequences))),
    }),
    memoryBytes: () => memory.buffer.byteLength,
    release: async () => {},
  };
}

const tokensOf = (sequences: readonly TokenSequence[]): number[] =>
  sequences.flatMap((sequence) => [...idsOf(sequence)]);

/** Pools the matrix at `x` [rows, width] to one row, and writes this row at `vector`. */
function poolInto(
  kernels: Kernels,
  { pooling, normalize }: VectorHead,
  x: number,
  rows: number,
  width: number,
  vector: number,
): void {
  if (pooling === "max") kernels.poolMaxF32(x, rows, width, vector);
  else if (pooling === "mean") kernels.poolMeanF32(x, rows, width, vector);
  else kernels.poolMeanF32(pooling === "last" ? x + 4 * width * (rows - 1) : x, 1, width, vector);
  if (normalize) kernels.normalizeF32(vector, width);
}
