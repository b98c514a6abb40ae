import type { Graph } from "../graph/graph.ts";
import { lower, type ProgramSize } from "./lower.ts";
import { writeModel } from "./write-model.ts";

/**
 * A graph of the edge form as the file that the WebAssembly engine reads.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export const encodeProgram = async (graph: Graph, size: ProgramSize): Promise<Uint8Array<ArrayBuffer>> =>
  writeModel(await lower(graph, size));
