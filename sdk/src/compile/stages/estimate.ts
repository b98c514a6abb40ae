import { BertEdgeError } from "../../artifact/error.ts";
import type { TargetName } from "../../artifact/manifest.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { isolateMemory } from "../latency/platforms/platforms.ts";
import type { Stage } from "./stage.ts";

/** Rough size and time of the edge target of a model. */
export interface EdgeEstimate {
  /** Bytes of the weights: the minimum of the model's memory. */
  readonly bytes: number;
  /** Milliseconds for a text of `TOKENS` tokens. */
  readonly ms: number;
}

export interface EstimateInput {
  readonly graph: Graph;
  readonly targets: readonly TargetName[];
  /** Bits per element of the token embedding table. */
  readonly tableBits: 8 | 4;
  /** Bits per weight of linear layers. Default: 8. */
  readonly weightBits?: 8 | 4 | undefined;
  /** Whether to continue if the edge is the only target and its weights do not fit. */
  readonly force: boolean;
}

/** Tokens of a typical request: a paragraph. */
const TOKENS = 128;

/**
 * Number of int8 multiply-additions per millisecond on one core, with WebAssembly. Measured: 2 to 6 · 10⁷ on x86 CPUs of 2021 to
 * 2024.
 */
const PER_MS = 4e7;

/**
 * Estimates size and time of the edge target from the weights, before the slow stages.
 *
 * @throws BertEdgeError `model_too_large` if the edge is the only target and its weights alone exceed an isolate's memory
 */
export const estimate: Stage<EstimateInput, EdgeEstimate> = {
  name: "estimate",
  describe: ({ graph, tableBits, weightBits, targets }) => {
    const { bytes, ms } = edgeEstimate(graph, tableBits, weightBits);
    const size = `${megabytes(bytes)} of weights in int8`;
    if (!targets.includes("edge")) return size;
    const time = `${ms < 10 ? ms.toFixed(1) : ms.toFixed(0)} ms for ${TOKENS} tokens`;
    return `edge: about ${megabytes(bytes)}, ${time}${bytes > isolateMemory.value ? ", too large for a Worker" : ""}`;
  },
  async run({ graph, targets, tableBits, weightBits, force }) {
    const found = edgeEstimate(graph, tableBits, weightBits);
    if (force || found.bytes <= isolateMemory.value || targets.some((target) => target !== "edge")) return found;
    const smaller = [
      ["--table int4", tableBits === 8 && edgeEstimate(graph, 4, weightBits)],
      ["--weights int4", weightBits !== 4 && edgeEstimate(graph, tableBits, 4)],
      ["--table int4 --weights int4", edgeEstimate(graph, 4, 4)],
    ] as const;
    const options = smaller.find(([, fit]) => fit && fit.bytes <= isolateMemory.value)?.[0];
    throw new BertEdgeError(
      "model_too_large",
      `The weights of the edge target would take ${megabytes(found.bytes)}, and an isolate of Workers has ${megabytes(isolateMemory.value)} for everything.`,
      {
        hint: `${options ? `Give ${options}. Or prepare` : "Prepare"} it for a region with --targets regional-cpu, or take a smaller model: npx bert-edge models. --force prepares it all the same.`,
      },
    );
  },
  report: ({ bytes, ms }) => ({ bytes, ms }),
};

/** Counts `weightBits` for each element of a weight matrix, and `tableBits` for each element of an embedding table. */
function edgeEstimate(graph: Graph, tableBits: 8 | 4, weightBits: 8 | 4 = 8): EdgeEstimate {
  const matrices = [...graph.constants()].filter(({ constant }) => (constant?.shape.length ?? 0) >= 2);
  const sizeOf = ({ constant }: Value) => constant?.shape.reduce((product, size) => product * size, 1) ?? 0;
  const isTable = ({ users }: Value) => [...users].some((node) => node.is("Gather"));
  let [bytes, products] = [0, 0];
  for (const matrix of matrices) {
    bytes += (sizeOf(matrix) * (isTable(matrix) ? tableBits : weightBits)) / 8;
    if (!isTable(matrix)) products += sizeOf(matrix);
  }
  return { bytes, ms: (TOKENS * products) / PER_MS };
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
