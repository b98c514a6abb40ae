import { int } from "../graph/attribute.ts";
import type { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { activationFormulas } from "./activation.ts";
import { writeEncoder } from "./encoder-graph.ts";
import { encoderWeights } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import { writeLinear, writeNorm } from "./layers.ts";
import { axes, int64 } from "./positions.ts";
import { asFloat } from "./score-biases.ts";
import { type Classifier, headWeights } from "./sequence-classification.ts";

/**
 * Writes a classifier's graph in standard operators, as `encoderGraph` does for an encoder. The graph's output is
 * `logits` [batch, labels], with the same name and type as in transformers' own ONNX exports.
 *
 * @throws BertEdgeError `checkpoint_invalid` if a tensor is missing, has another shape than config.json says, or holds
 *   NaN or infinite numbers
 */
export function classifierGraph(classifier: Classifier): Graph {
  const g = new GraphWriter(classifier.config.modelType);
  const { hiddenStates, mask } = writeEncoder(g, classifier.config, encoderWeights(classifier));
  const { poolsLogits } = classifier.head;
  const pool = (x: Value) => (classifier.head.pooling === "cls" ? clsPooling(g, x) : meanPooling(g, x, mask));
  const computed = headLogits(g, poolsLogits ? hiddenStates : pool(hiddenStates), classifier);
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

/** Writes the classification head: output(norm(activation(dense(x)))), [batch, …, hidden] → [batch, …, labels]. */
function headLogits(g: GraphWriter, x: Value, classifier: Classifier): Value {
  const { head, config } = classifier;
  const { dense, norm, output } = headWeights(classifier);
  const projected = writeLinear(g, "head.dense", x, dense);
  const activated =
    head.activation === "tanh"
      ? g.op("head.activation", "Tanh", [projected])
      : activationFormulas[head.activation](g, "head.activation", projected);
  const normalized = norm ? writeNorm(g, "head.norm", activated, norm, config) : activated;
  return writeLinear(g, "head.output", normalized, output);
}
