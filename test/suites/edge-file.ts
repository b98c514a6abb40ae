import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { lower } from "../../sdk/src/build/pack/program/lower.ts";
import { writeModel } from "../../sdk/src/build/pack/program/write-model.ts";
import { precisions } from "../../sdk/src/build/quantize/precisions.ts";

/** A fused graph as a file of the WebAssembly engine, weights rounded to the nearest. */
export const edgeFile = async (
  fused: Graph,
  size: { maxTokens: number; vocabulary: number },
): Promise<Uint8Array<ArrayBuffer>> => writeModel(await lower(precisions["int8-edge"](fused)(), size));
