import { readFile } from "node:fs/promises";
import { answer } from "../../in-child.ts";
import { fromOnnx } from "../../onnx/from-onnx.ts";
import { readOnnx } from "../../onnx/read-onnx.ts";
import { inferShapes } from "../../shapes/infer.ts";
import { tokenBatches } from "../token-batches.ts";
import { type StoredMoments, writeMoments } from "./moments-file.ts";
import { observeProducts } from "./observe.ts";

/** Runs the model named on the command line on the token ids in a JSON file, and writes moments to the last. */
const [, , model = "", sequences = "", moments = ""] = process.argv;
await answer(observe());

async function observe(): Promise<StoredMoments[]> {
  const graph = fromOnnx(await readOnnx(model));
  inferShapes(graph);
  const ids = JSON.parse(await readFile(sequences, "utf8")) as number[][];
  const batches = tokenBatches(
    graph,
    ids.map((row) => Int32Array.from(row)),
  );
  return writeMoments(moments, await observeProducts(graph, batches));
}
