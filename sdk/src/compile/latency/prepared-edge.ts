import { join } from "node:path";
import { type Manifest, tokenizerFiles } from "../../artifact/manifest.ts";
import type { Measurements } from "../../artifact/measurements.ts";
import { storedFile } from "../files/stored-file.ts";
import { type EdgeFigures, edgeFigures, estimatedColdStartMs } from "./edge-figures.ts";
import { predictedMs } from "./platforms/fit.ts";

/** What an artifact takes at the edge: its sizes as written, and times with the speed of this machine. */
export interface PreparedEdge extends EdgeFigures {
  /** Estimated milliseconds to the first answer of a cold isolate, from a store of 20 ms and 50 MB/s. */
  readonly coldStartMs: number;
}

/** Tokens of a short text, which a cold isolate answers first. */
const SHORT = 16;

/**
 * Returns what an artifact takes at the edge; undefined if it has no target for our engine there.
 *
 * @param folder of the artifact
 */
export async function preparedEdge(
  folder: string,
  { targets: { edge }, files, tokenizer }: Manifest,
  measurements: Measurements,
): Promise<PreparedEdge | undefined> {
  if (edge?.engine !== "wasm") return undefined;
  const tokenizerBytes = tokenizerFiles(tokenizer).reduce((sum, file) => sum + (files[file]?.size ?? 0), 0);
  const figures = await edgeFigures(storedFile(join(folder, edge.model)), tokenizerBytes);
  const latency = measurements.edge?.latency;
  return { ...figures, coldStartMs: estimatedColdStartMs(figures, latency ? predictedMs(latency, SHORT) : 0) };
}
