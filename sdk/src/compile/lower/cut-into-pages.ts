import { createHash } from "node:crypto";
import type { TokenSequence } from "../../runtime/engine/engine.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import type { LookupPages, LookupStep } from "../../runtime/engine/wasm/ops/lookup.ts";
import { rowOrder } from "../../runtime/engine/wasm/pages/row-order.ts";
import type { Program } from "../../runtime/engine/wasm/run/program.ts";
import { byteLength, type Tensor, tensor, toFloat32 } from "../graph/tensor.ts";
import type { Lowered } from "./lower-graph.ts";
import type { ProgramOutline } from "./write-model-file.ts";

/** How a token embedding table is cut into pages. */
export interface Paging {
  /** Rows that stay in memory. */
  readonly resident: number;
  /** Further rows that stay in memory after they were needed, until others need their place. */
  readonly cached: number;
  /** Different token ids, the most frequent first. */
  readonly frequent: Int32Array<ArrayBuffer>;
}

/** Rows of a page: 26 KB with rows of 4 bits for 768 numbers, which arrive in half a millisecond at 50 MB/s. */
const PAGE_ROWS = 64;

const BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Cuts the token embedding table of a program into pages. The rows of frequent tokens come first. Those that stay in memory remain in the
 * model file; all others go to pages. A row of a page ends with its scale.
 *
 * @param lowered a program with one table, which has more rows than those that stay
 * @returns the program with its tensors, and the pages one after the other
 */
export function cutIntoPages(
  lowered: Lowered,
  { resident, cached, frequent }: Paging,
): { readonly lowered: Lowered; readonly pages: Uint8Array<ArrayBuffer> } {
  const { tensors } = lowered;
  const { vocabulary } = lowered.program;
  const lookup = lookupOf(lowered);
  const [table, scales] = [lookup.table, lookup.scales].map((name) => tensors.get(name)) as [Tensor, Tensor];
  const rowBytes = table.data.length / vocabulary;
  const scaleOf = toFloat32(scales);
  const rowOf = rowOrder(frequent);

  const hot = new Uint8Array(resident * rowBytes);
  const hotScales = new Float32Array(resident);
  const pages = new Uint8Array((vocabulary - resident) * (rowBytes + BYTES));
  const view = new DataView(pages.buffer);
  for (let id = 0; id < vocabulary; id++) {
    const bytes = table.data.subarray(id * rowBytes, (id + 1) * rowBytes);
    const row = rowOf(id);
    if (row < resident) {
      hot.set(bytes, row * rowBytes);
      hotScales[row] = scaleOf[id] as number;
      continue;
    }
    const at = (row - resident) * (rowBytes + BYTES);
    pages.set(bytes, at);
    view.setFloat32(at + rowBytes, scaleOf[id] as number, true);
  }

  const hashes = hashesOf(pages, PAGE_ROWS * (rowBytes + BYTES));
  return {
    lowered: {
      program: withPages(lowered.program, { resident, cached, rows: PAGE_ROWS, frequent: [...frequent], hashes }),
      tensors: new Map([
        ...tensors,
        [lookup.table, tensor("uint8", [resident, rowBytes], hot)],
        [lookup.scales, tensor("float32", [resident], hotScales)],
      ]),
    },
    pages,
  };
}

/** Returns the token ids of sequences, the most frequent first; of equally frequent ones, the smaller first. */
export function byFrequency(sequences: readonly TokenSequence[]): Int32Array<ArrayBuffer> {
  const counts = new Map<number, number>();
  for (const sequence of sequences) for (const id of idsOf(sequence)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return Int32Array.from([...counts].sort(([a, n], [b, m]) => m - n || a - b).map(([id]) => id));
}

/**
 * Describes the program that `cutIntoPages` returns. Its tokens and hashes are others, and take at least as many bytes.
 *
 * @param frequent number of different token ids
 */
export function outlineOfPages(
  { program, tensors }: ProgramOutline,
  { resident, cached, frequent }: Pick<Paging, "resident" | "cached"> & { readonly frequent: number },
): ProgramOutline {
  const lookup = lookupOf({ program });
  const { vocabulary } = program;
  const table = tensors.get(lookup.table) as Pick<Tensor, "dtype" | "shape">;
  return {
    program: withPages(program, {
      ...{ resident, cached, rows: PAGE_ROWS },
      frequent: Array.from({ length: Math.min(frequent, vocabulary) }, (_, i) => vocabulary - 1 - i),
      hashes: Array(Math.ceil((vocabulary - resident) / PAGE_ROWS)).fill("0".repeat(64)),
    }),
    tensors: new Map([
      ...tensors,
      [lookup.table, { dtype: "uint8", shape: [resident, byteLength(table) / vocabulary] }],
      [lookup.scales, { dtype: "float32", shape: [resident] }],
    ]),
  };
}

const withPages = (program: Program, pages: LookupPages): Program => ({
  ...program,
  steps: program.steps.map((step) => (step.op === "lookup" ? { ...step, pages } : step)),
});

const lookupOf = ({ program }: Pick<ProgramOutline, "program">): LookupStep =>
  program.steps.find((step) => step.op === "lookup") as LookupStep;

/** Returns the SHA-256 of each page. */
const hashesOf = (pages: Uint8Array, pageBytes: number): string[] =>
  Array.from({ length: Math.ceil(pages.length / pageBytes) }, (_, page) =>
    createHash("sha256")
      .update(pages.subarray(page * pageBytes, (page + 1) * pageBytes))
      .digest("hex"),
  );
