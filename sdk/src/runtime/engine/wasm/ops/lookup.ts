import { shown } from "../../../../artifact/shown.ts";
import { tensorAt } from "../run/block.ts";
import { BATCH_TOKENS } from "../run/layout.ts";
import { fieldsOf, ProgramFault, sizeOf, type TablePages } from "./operand-reader.ts";
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
  /** Different token ids. */
  readonly frequent: readonly number[];
  /** SHA-256 of each page, in hexadecimal digits. */
  readonly hashes: readonly string[];
}

export const lookup: Operation<LookupStep> = (step, read, { vocabulary, maxTokens }) => {
  read.rows("token");
  const { bits } = step;
  if (bits !== 8 && bits !== 4) throw new ProgramFault(`bits is ${shown(bits)}, not 8 or 4`);
  const width = read.widthOf(step.out, "out", bits === 8 ? 4 : 32);
  const rowBytes = bits === 8 ? width : levelRowBytes(width);
  const pages = step.pages === undefined ? undefined : pagesOf(step.pages, { vocabulary, maxTokens, rowBytes });
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
  return {
    ...{ resident, cached, rows, count },
    ...{ bytes: (vocabulary - resident) * (rowBytes + 4), rowBytes: rowBytes + 4 },
    ...{ frequent: tokensOf(fields["frequent"], vocabulary), hashes: hashesOf(fields["hashes"], count) },
  };
}

/** Checks that tokens are in the vocabulary, and each only once. Otherwise two tokens could get the same row, or a token none. */
function tokensOf(list: unknown, vocabulary: number): Int32Array {
  if (!Array.isArray(list)) throw new ProgramFault("frequent is not a list");
  const isListed = new Uint8Array(vocabulary);
  for (const id of list) {
    if (Number.isInteger(id) && isListed[id] === 0) isListed[id] = 1;
    else {
      const fault = isListed[id] === 1 ? "twice" : `outside of the vocabulary of ${vocabulary}`;
      throw new ProgramFault(`it lists the frequent token ${shown(id)} ${fault}`);
    }
  }
  return Int32Array.from(list);
}

function hashesOf(list: unknown, count: number): readonly string[] {
  if (Array.isArray(list) && list.length === count && list.every((hash) => typeof hash === "string")) return list;
  throw new ProgramFault(`hashes is not a list of ${count} texts`);
}
