import { shown } from "../../../../artifact/shown.ts";
import { tensorAt } from "../run/block.ts";
import { BATCH_TOKENS } from "../run/layout.ts";
import { fieldsOf, type OperandReader, ProgramFault, sizeOf, type TablePages } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";

/**
 * Looks up rows of a token embedding table. Each row has a scale. A row of an 8-bit table is u8 [width]. A row of a 4-bit table has
 * a multiplier for each 16 numbers too, and is u8 [width/2 + width/32].
 */
export interface LookupStep {
  readonly op: "lookup";
  readonly table: string;
  readonly scales: string;
  readonly bits: 8 | 4;
  /** Undefined if the file has all rows. */
  readonly pages?: LookupPages;
  readonly out: number;
}

/** Bytes of a row of a 4-bit table: half a byte for each number, and half a byte for each 16 numbers. */
export const levelRowBytes = (width: number): number => width / 2 + width / 32;

/**
 * A table of which the file has only the first rows. The others are in pages, each row followed by its scale. The rows of `frequent`
 * tokens come first: see pages/row-order.ts.
 */
export interface LookupPages {
  /** Number of rows in the file. */
  readonly resident: number;
  /** Number of other rows that are kept in memory. */
  readonly cached: number;
  /** Rows of a page. */
  readonly rows: number;
  /** Tensor i32 with different token ids. */
  readonly frequent: string;
  /** Tensor u8 [pages, 32] with the SHA-256 of each page. */
  readonly hashes: string;
}

export const lookup: Operation<LookupStep> = (step, read, { vocabulary, maxTokens }) => {
  read.rows("token");
  const { bits } = step;
  if (bits !== 8 && bits !== 4) throw new ProgramFault(`bits is ${shown(bits)}, not 8 or 4`);
  const width = read.widthOf(step.out, "out", bits === 8 ? 4 : 32);
  const rowBytes = bits === 8 ? width : levelRowBytes(width);
  const pages = step.pages === undefined ? undefined : pagesOf(step.pages, read, { vocabulary, maxTokens, rowBytes });
  const inFile = pages?.resident ?? vocabulary;
  const scales = read.floats(step.scales, "scales", inFile);
  const table = pages
    ? read.last(step.table, "table", inFile * rowBytes)
    : read.table(step.table, "table", inFile * rowBytes);
  const out = read.out(step.out, "out", width);
  const kernel = bits === 8 ? "lookupInt8" : "lookupInt4";
  return {
    tokenTable: { offset: table, rowBytes, ...(pages && { pages: { ...pages, scales } }) },
    run(block) {
      const [rowScales, rows] = pages ? [block.batch.regions.rowScales, block.places] : [tensorAt(scales), block.ids];
      block.kernels[kernel](tensorAt(table), rowScales, rows, block.count, width, block.at(out));
    },
  };
};

/** Checks the fields of a table in pages. */
function pagesOf(
  given: unknown,
  read: OperandReader,
  { vocabulary, maxTokens, rowBytes }: { vocabulary: number; maxTokens: number; rowBytes: number },
): Omit<TablePages, "scales"> {
  const fields = fieldsOf(given, "pages");
  const [resident, cached, rows] = ["resident", "cached", "rows"].map((name) => sizeOf(fields[name], name)) as [
    number,
    number,
    number,
  ];
  if (resident >= vocabulary) throw new ProgramFault(`resident is ${resident}, and there are ${vocabulary} rows`);
  const needed = Math.min(Math.max(maxTokens, BATCH_TOKENS), vocabulary - resident);
  if (cached > vocabulary - resident) {
    throw new ProgramFault(`cached is ${cached}, and ${vocabulary - resident} rows are in pages`);
  }
  if (cached < needed) throw new ProgramFault(`cached is ${cached}, and a batch can need ${needed} rows`);
  const count = Math.ceil((vocabulary - resident) / rows);
  const hashes = read.tensor(fields["hashes"], "hashes", 32 * count);
  const { offset: frequent, count: frequentCount } = read.list(fields["frequent"], "frequent", vocabulary);
  return {
    resident,
    cached,
    rows,
    count,
    bytes: (vocabulary - resident) * (rowBytes + 4),
    rowBytes: rowBytes + 4,
    frequent,
    frequentCount,
    hashes,
  };
}
