import { int, MICROSOFT } from "../../graph/node.ts";
import { reading } from "../../graph/tensor.ts";
import type { QuantizationScheme } from "../quantize-graph.ts";
import { quantizeTable, type TablePrecision } from "./quantize-table.ts";

/**
 * Looks up rows of an embedding table with com.microsoft.GatherBlockQuantized.
 *
 * @param precisionOf returns the precision for a table's width; undefined leaves the table in float32
 */
export const blockLookup =
  (precisionOf: (width: number) => TablePrecision | undefined): QuantizationScheme["embeddingLookup"] =>
  (graph, name, table, ids) => {
    const precision = precisionOf(table.constant.shape[1] ?? 0);
    if (!precision) return undefined;
    const { values, scales } = reading(table.constant, (read) => quantizeTable(read, precision));
    const rows = graph.constant(`${table.name}.uint${precision.bits}`, values);
    const rowScales = graph.constant(`${table.name}.scales`, scales);
    return graph.add("GatherBlockQuantized", [rows, ids, rowScales], {
      name,
      domain: MICROSOFT,
      attributes: {
        bits: int(precision.bits),
        block_size: int(precision.block),
        gather_axis: int(0),
        quantize_axis: int(1),
      },
    }).output;
  };

/** Block sizes to try, by bits. onnxruntime supports powers of two from 16. Larger blocks save bytes but cost accuracy. */
const blockSizes = { 8: [128, 64, 32, 16], 4: [32, 16] } as const;

/**
 * Makes a `precisionOf` for `blockLookup`. It chooses the largest block size that divides the table's width, and
 * returns undefined if no block size divides it.
 */
export const ortTable =
  (bits: 8 | 4) =>
  (width: number): TablePrecision | undefined => {
    const block = blockSizes[bits].find((size) => width > 0 && width % size === 0);
    return block && { bits, block };
  };
