import { symbolicDim } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { embeddings } from "./embeddings.ts";
import { type EncoderConfig, maxTokensOf } from "./encoder-config.ts";
import { postNormLayer, preNormLayer } from "./encoder-layer.ts";
import type { EncoderWeights } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import { layerNorm } from "./layers.ts";
import { rotation } from "./rotary-positions.ts";
import { maskBias, relativeBias, windowBias } from "./score-biases.ts";

/** What a part of a graph that follows an encoder reads. */
export interface EncoderValues {
  /** [batch, sequence, hidden] */
  readonly states: Value;
  /** The input, [batch, sequence], int64. */
  readonly mask: Value;
}

/**
 * An encoder written out in standard operators, formula by formula, from the checkpoint's tensors as they are. Inputs and
 * output are named and typed as transformers' own ONNX exports are.
 *
 * Transformer encoder, Devlin et al. 2018 (https://arxiv.org/abs/1810.04805); what other families change in it is said
 * where it is done.
 */
export function encoderGraph(config: EncoderConfig, weights: EncoderWeights): Graph {
  const g = new GraphWriter(config.model_type);
  const { states } = writeEncoder(g, config, weights);
  g.graph.outputs.push({ name: "last_hidden_state", value: states, declaration: undefined });
  inferShapes(g.graph);
  return g.graph;
}

/** Writes an encoder's inputs and nodes. */
export function writeEncoder(g: GraphWriter, config: EncoderConfig, weights: EncoderWeights): EncoderValues {
  const input = (name: string) =>
    g.graph.input(name, { dtype: "int64", shape: [symbolicDim("batch"), symbolicDim("sequence")] });
  const ids = input("input_ids");
  const mask = input("attention_mask");
  const types = config.type_vocab_size > 1 ? input("token_type_ids") : undefined;

  let x = embeddings(g, config, weights, ids, types);
  const positions = layerPositions(g, config, weights, ids, mask);
  const encoderLayer = config.norm_first ? preNormLayer : postNormLayer;
  weights.layers.forEach((layer, index) => {
    x = encoderLayer(g, `layer.${index}`, x, layer, config, positions(index));
  });
  if (weights.finalNorm) x = layerNorm(g, "norm", x, weights.finalNorm, config.layer_norm_eps);
  return { states: x, mask };
}

/** What positions do to the attention of each layer; layers that agree share it. */
function layerPositions(
  g: GraphWriter,
  config: EncoderConfig,
  { relativePosition }: EncoderWeights,
  ids: Value,
  mask: Value,
) {
  const maxTokens = maxTokensOf(config);
  const headSize = config.hidden_size / config.num_attention_heads;
  const everywhere = [maskBias(g, mask)];
  if (relativePosition) everywhere.push(relativeBias(g, relativePosition, maxTokens, ids));
  const windows = once((reach: number) => windowBias(g, reach, ids));
  const rotations = once((theta: number) => rotation(g, theta, headSize, maxTokens, ids));
  return (index: number) => {
    const reach = config.attention_reach?.[index];
    const theta = config.rope_theta?.[index];
    return {
      biases: reach === undefined ? everywhere : [...everywhere, windows(reach)],
      rotation: theta === undefined ? undefined : rotations(theta),
    };
  };
}

/** The same result for the same argument. */
function once<A, R>(make: (argument: A) => R): (argument: A) => R {
  const made = new Map<A, R>();
  return (argument) => {
    const result = made.get(argument) ?? make(argument);
    made.set(argument, result);
    return result;
  };
}
