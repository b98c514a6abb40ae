import { BertEdgeError } from "../../artifact/error.ts";
import type { Graph } from "../graph/graph.ts";
import { cutIntoPages } from "./cut-into-pages.ts";
import { lowerGraph, type ProgramSize } from "./lower-graph.ts";
import { expanded, residenceOf } from "./residence.ts";
import { writeModelFile } from "./write-model-file.ts";

export interface EncodeOptions extends ProgramSize {
  /** Maximum bytes of weights in memory. With more, weights of 4 bits are expanded in each call. Default: no maximum. */
  readonly maxMemory?: number;
}

export interface PagingOptions {
  /**
   * Returns different token ids, the most frequent first: rows that stay in memory. It is called if the weights do not fit with a whole
   * token embedding table.
   */
  readonly frequent: () => Int32Array<ArrayBuffer>;
  /** Whether the table is cut although it fits. The rows of `frequent` are then what a model starts with. Default false. */
  readonly pages?: boolean | undefined;
}

export interface Encoded {
  readonly file: Uint8Array<ArrayBuffer>;
  /** Pages of the token embedding table, one after the other. */
  readonly pages?: Uint8Array<ArrayBuffer>;
}

/**
 * Encodes a graph with int8-edge operators as a model file of the edge engine. Its token embedding table stays whole, even if the weights
 * then take more than `maxMemory`.
 *
 * @throws BertEdgeError `engine_unsupported`
 */
export async function encodeProgram(
  graph: Graph,
  { maxMemory = Number.POSITIVE_INFINITY, ...size }: EncodeOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const lowered = await lowerGraph(graph, size);
  const residence = residenceOf(lowered, maxMemory, () => 0);
  return writeModelFile(expanded(lowered, residence.kind === "whole" ? residence.expands : "each call"));
}

/**
 * Encodes a graph as `encodeProgram` does. If the weights take more than `maxMemory` even if they are expanded in each call, the token
 * embedding table is cut into pages, and as many rows stay in memory as fit.
 *
 * @throws BertEdgeError `engine_unsupported`; `model_too_large` if too few rows fit
 */
export async function encodeWithPages(
  graph: Graph,
  { maxMemory = Number.POSITIVE_INFINITY, frequent, pages = false, ...size }: EncodeOptions & PagingOptions,
): Promise<Encoded> {
  const lowered = await lowerGraph(graph, size);
  const residence = residenceOf(lowered, maxMemory, () => frequent().length, pages);
  if (residence.kind === "whole") return { file: writeModelFile(expanded(lowered, residence.expands)) };
  if (residence.kind === "pages") {
    const cut = cutIntoPages(expanded(lowered, residence.expands), { ...residence, frequent: frequent() });
    return { file: writeModelFile(cut.lowered), pages: cut.pages };
  }
  throw new BertEdgeError(
    "model_too_large",
    `The edge's weights without the token embedding table take ${megabytes(residence.bytes)}, and ${megabytes(maxMemory)} are allowed, which must have room for 1,024 of its rows too.`,
    {
      hint: "Give --table int4 --weights int4, or a larger --max-memory, or prepare the model for a region: --targets regional-cpu.",
    },
  );
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
