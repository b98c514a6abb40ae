import type { EncoderConfig } from "../../sdk/src/build/checkpoint/encoder-config.ts";
import { encoderGraph } from "../../sdk/src/build/checkpoint/encoder-graph.ts";
import type { EncoderWeights } from "../../sdk/src/build/checkpoint/encoder-weights.ts";
import type { Graph } from "../../sdk/src/build/graph/graph.ts";
import { optimizeGraph } from "../../sdk/src/build/optimize/optimize-graph.ts";

/** An encoder's graph as it is before quantization. */
export async function fusedGraph(config: EncoderConfig, weights: EncoderWeights): Promise<Graph> {
  const graph = encoderGraph(config, weights);
  await optimizeGraph(graph);
  return graph;
}
