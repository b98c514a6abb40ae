import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { MANIFEST_FORMAT } from "../../artifact/manifest.ts";
import { modelPlace } from "../checkpoint/model-place.ts";
import type { Graph } from "../graph/graph.ts";
import { toOnnx } from "../onnx/to-onnx.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { inMemory } from "../proto/protobuf-writer.ts";

/**
 * Returns the key of a stage: the SHA-256 of the stage's name, of the format version, and of `parts`. `parts` must
 * contain everything that determines the stage's result.
 */
export const contentKey = (stage: string, ...parts: readonly unknown[]): string =>
  createHash("sha256")
    .update(JSON.stringify([MANIFEST_FORMAT, stage, ...parts]))
    .digest("hex");

/** Keys of graphs. Graphs do not change between stages, so each graph is hashed once. */
const known = new WeakMap<Graph, string>();

/** Hashes a graph with its weights, one weight at a time. */
export function graphKey(graph: Graph): string {
  const found = known.get(graph);
  if (found) return found;
  const hash = createHash("sha256");
  for (const chunk of inMemory(encodeModel(toOnnx(graph, {})).chunks())) hash.update(chunk);
  const key = hash.digest("hex");
  known.set(graph, key);
  return key;
}

/** Hashes files in memory: their names and their bytes. */
export const filesKey = (files: ReadonlyMap<string, Uint8Array>): string =>
  contentKey("files", ...[...files].map(([name, bytes]) => [name, createHash("sha256").update(bytes).digest("hex")]));

/** Hashes the files below a folder: their paths and their bytes. */
export async function folderKey(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const path of paths.toSorted()) {
    const file = createHash("sha256");
    for await (const chunk of createReadStream(path)) file.update(chunk as Buffer);
    hash.update(JSON.stringify([relative(folder, path), file.digest("hex")]));
  }
  return hash.digest("hex");
}

/** Hashes a model: the files of its folder, and the ONNX file that was named. */
export async function modelKey(path: string): Promise<string> {
  const { folder, onnx } = modelPlace(path);
  return contentKey("model", await folderKey(folder), onnx === undefined ? "" : relative(folder, onnx));
}
