import { type Data, measureRow } from "./measure-row.ts";

/** Measures the row that the command line names, and sends the result to the parent process. */
const [, , id = "", what = "", data = ""] = process.argv;
const result = await measureRow(id, JSON.parse(data) as Data, what as Parameters<typeof measureRow>[2]);
process.send?.(result, () => process.exit(0));
