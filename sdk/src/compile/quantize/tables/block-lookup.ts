import { int } from "../../graph/attribute.ts";
import { MICROSOFT } from "../../graph/node.ts";
import { reading } from "../../graph/tensor.ts";
import type { Form } from "../quantize-graph.ts";
import { quantizeTable, type TablePrecision } from "./quantize-table.ts";

/** A table's rows by com.microsoft.GatherBlockQuantized. */
export const blockLookup =
  (precisionOf: (width: number) => TablePrecision | undefined): Form["lookup"] =>
  (graph, name, table, ids) => {
    const precision = precisionOf(table.constant.shape[1] ?? 0);
    if (!precision) return undefined;
    const { values, steps } = reading(table.constant, (read) => quantizeTable(read, precision));
    const rows = graph.constant(`${table.name}.uint${precision.bits}`, values);
    const scales = graph.constant(`${table.name}.scales`, steps);
    return graph.add("GatherBlockQuantized", [rows, ids, scales], {
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

/** onnxruntime takes powers of two from 16; a smaller block costs bytes, a larger one accuracy. */
const blockSizes = { 8: [128, 64, 32, 16], 4: [32, 16] } as const;

/** The largest block that onnxruntime takes and that divides the row; undefined where none does. */
export const ortTable =
  (bits: 8 | 4) =>
  (width: number): TablePrecision | undefined => {
    const block = blockSizes[bits].find((size) => width > 0 && width % size === 0);
    return block && { bits, block };
  };
