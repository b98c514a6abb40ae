import { cp, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { foldConstants } from "#sdk/compile/evaluate/fold-constants.ts";
import { readModelSource } from "#sdk/compile/model/model-source.ts";
import { writeOnnx } from "#sdk/compile/onnx/write-onnx.ts";
import { decodeModel } from "#sdk/compile/proto/decode-model.ts";

/**
 * Copies a model into a folder as an ONNX file. Python's tools write into the same folder.
 *
 * @returns path of the float32 file
 */
export async function stage(source: string, folder: string): Promise<string> {
  const { graph, envelope } = await readModelSource(source);
  if ((await stat(source)).isDirectory()) {
    // Python's tool quantizes only MatMuls with constant weights. In this graph, Transpose nodes stand between the
    // weights and the MatMuls. Fold these Transpose nodes into the weights, as exporters do.
    await foldConstants(graph);
    const path = join(folder, "float32.onnx");
    await writeOnnx(path, graph, envelope);
    return path;
  }
  const model = decodeModel(new Uint8Array(await readFile(source)));
  const entries = (model.graph?.initializer ?? []).flatMap(({ externalData }) => externalData);
  const external = entries.flatMap(({ key, value }) => (key === "location" && value !== undefined ? [value] : []));
  for (const name of new Set([basename(source), ...external]))
    await cp(join(dirname(source), name), join(folder, name));
  return join(folder, basename(source));
}
