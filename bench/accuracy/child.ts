import { type Data, measureRow, type Task } from "./measure-row.ts";

/** Measures the row that the command line names, and sends the result to the parent process. */
const [, , id = "", what = "", data = ""] = process.argv;
const result = await measureRow(id, JSON.parse(data) as Data, what as Task);
process.send?.(result);
