import { rm, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { TokenIds } from "../../../runtime/engine/engine.ts";
import type { Graph } from "../../graph/graph.ts";
import { type Errand, inChild } from "../../in-child.ts";
import { writeOnnx } from "../../onnx/write-onnx.ts";
import { momentsIn, type StoredMoments } from "./moments-file.ts";
import type { Calibration } from "./weights.ts";

/** Large models take minutes for some hundred texts, and there may be many more. */
const OBSERVATION: Errand = {
  failure: "calibration_failed",
  what: "Activations could not be observed",
  deadlineMs: 24 * 60 * 60_000,
};

const script = new URL(`./observe-child${extname(import.meta.url)}`, import.meta.url);

/**
 * `observeProducts` in a process of its own, because a session takes several times the model's size.
 *
 * @param sequences texts' token ids
 * @param folder where moments are kept, several times as many bytes as the products' weights: as long as they are used
 * @throws BertEdgeError `calibration_failed`, or what `tokenBatches` and `observeProducts` throw
 */
export async function observeInChild(
  graph: Graph,
  sequences: readonly TokenIds[],
  folder: string,
): Promise<Calibration> {
  const [model, ids, moments] = ["observed.onnx", "observed.json", "moments"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  await writeOnnx(model, graph);
  await writeFile(ids, JSON.stringify(sequences.map((row) => [...row])));
  const stored = await inChild<StoredMoments[]>(script, [model, ids, moments], OBSERVATION);
  for (const path of [model, `${model}.data`, ids]) await rm(path, { force: true });
  return momentsIn(moments, stored);
}
