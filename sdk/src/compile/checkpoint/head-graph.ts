import { int } from "../graph/attribute.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { activationFormulas } from "./activation.ts";
import { writeEncoder } from "./encoder-graph.ts";
import { encoderWeights } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import { type HeadedModel, headWeights } from "./headed-model.ts";
import { writeLinear, writeNorm } from "./layers.ts";
import { axes, int64 } from "./positions.ts";
import { asFloat } from "./score-biases.ts";

/**
 * Writes the graph of a model with a task head in standard operators, as `encoderGraph` does for an encoder. The graph's
 * output is `logits`: [batch, outputs], or [batch, sequence, outputs] for heads of tokens. Names and types are those of
 * transformers' own ONNX exports. They have two outputs for question answering, `start_logits` and `end_logits`, which are
 * columns 0 and 1 here.
 *
 * @throws BertEdgeError `checkpoint_invalid` if a tensor is missing, has another shape than config.json says, or holds
 *   NaN or infinite numbers
 */
export function headGraph(model: HeadedModel): Graph {
  const g = new GraphWriter(model.config.modelType);
  const { hiddenStates, mask } = writeEncoder(g, model.config, encoderWeights(model));
  const { poolsLogits, pooling } = model.head;
  const pool = (x: Value) => (pooling === "cls" ? clsPooling(g, x) : pooling === "mean" ? meanPooling(g, x, mask) : x);
  const computed = writeHead(g, poolsLogits ? hiddenStates : pool(hiddenStates), model);
  const logits = poolsLogits ? pool(computed) : computed;
  g.graph.outputs.push({ name: "logits", value: logits, declaration: undefined });
  inferShapes(g.graph);
  return g.graph;
}

/** Writes the vector of the first token: [batch, sequence, width] → [batch, width]. */
const clsPooling = (g: GraphWriter, hiddenStates: Value): Value =>
  g.op("pooled", "Gather", [hiddenStates, int64(g, 0)], { axis: int(1) });

/**
 * Writes the mean of the vectors of all tokens except padding: [batch, sequence, width] → [batch, width]. Each vector is
 * divided by the number of tokens before the vectors are added, because a sum over a long text can overflow half precision.
 */
function meanPooling(g: GraphWriter, hiddenStates: Value, mask: Value): Value {
  const shown = asFloat(g, "pooled.shown", mask);
  const count = g.op("pooled.count", "ReduceSum", [shown, axes(g, 1)], { keepdims: int(1) });
  const share = g.op("pooled.share", "Unsqueeze", [g.op("pooled.part", "Div", [shown, count]), axes(g, 2)]);
  const parts = g.op("pooled.parts", "Mul", [hiddenStates, share]);
  return g.op("pooled", "ReduceSum", [parts, axes(g, 1)], { keepdims: int(0) });
}

/** Writes output(norm(activation(dense(x)))), [batch, …, hidden] → [batch, …, outputs]. */
function writeHead(g: GraphWriter, x: Value, model: HeadedModel): Value {
  const { transform, output } = headWeights(model);
  const { head, config } = model;
  if (!transform) return writeLinear(g, "head.output", x, output);
  const activation = head.transform?.activation ?? config.activation;
  const projected = writeLinear(g, "head.dense", x, transform.dense);
  const activated =
    activation === "tanh"
      ? g.op("head.activation", "Tanh", [projected])
      : activationFormulas[activation](g, "head.activation", projected);
  const normalized = transform.norm ? writeNorm(g, "head.norm", activated, transform.norm, config) : activated;
  return writeLinear(g, "head.output", normalized, output);
}
