import type { Graph } from "../graph/graph.ts";
import { int, type Value } from "../graph/node.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import type { ActivationName } from "./config-keys.ts";
import { writeEncoder } from "./encoder-graph.ts";
import { encoderWeights } from "./encoder-weights.ts";
import { GraphWriter } from "./graph-writer.ts";
import type { DenseLayer } from "./head-formula.ts";
import { type DenseWeights, type HeadedModel, type HeadWeights, headWeights } from "./headed-model.ts";
import { activationFormulas, axes, int64, writeLinear, writeNorm } from "./layers.ts";
import { asFloat } from "./score-biases.ts";

/**
 * Writes the graph of a model with a task head in standard operators, as `encoderGraph` does for an encoder. The graph's
 * output is `logits`: [batch, outputs], or [batch, sequence, outputs] for heads of tokens. Names and types are those of
 * transformers' own ONNX exports, except for question answering: the exports have the outputs `start_logits` and
 * `end_logits`, which are columns 0 and 1 of `logits` here.
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

/** Writes output(norm(activation(dense(projections(x))))), [batch, …, hidden] → [batch, …, outputs]. */
function writeHead(g: GraphWriter, x: Value, model: HeadedModel): Value {
  const { transform, projections, output } = headWeights(model);
  const { head } = model;
  const projected = projections.reduce(
    (value, weights, i) => writeDense(g, `head.${i}`, value, head.projections?.[i] as DenseLayer, weights),
    x,
  );
  const transformed = transform ? writeTransform(g, projected, model, transform) : projected;
  return output ? writeLinear(g, "head.output", transformed, output) : transformed;
}

function writeTransform(
  g: GraphWriter,
  x: Value,
  { head, config }: HeadedModel,
  { dense, norm }: NonNullable<HeadWeights["transform"]>,
): Value {
  const activation = head.transform?.activation ?? config.activation;
  const activated = writeActivation(g, "head.activation", writeLinear(g, "head.dense", x, dense), activation);
  return norm ? writeNorm(g, "head.norm", activated, norm, config) : activated;
}

/** Writes activation(linear(x)) + residual, [batch, …, inputs] → [batch, …, outputs]. */
function writeDense(
  g: GraphWriter,
  name: string,
  x: Value,
  { activation, residual }: DenseLayer,
  weights: DenseWeights,
): Value {
  const linear = writeLinear(g, `${name}.linear`, x, weights.linear);
  const activated = activation ? writeActivation(g, `${name}.activation`, linear, activation) : linear;
  if (!residual) return activated;
  const added = weights.residual ? writeLinear(g, `${name}.residual`, x, weights.residual) : x;
  return g.op(`${name}.sum`, "Add", [activated, added]);
}

const writeActivation = (g: GraphWriter, name: string, x: Value, activation: ActivationName | "tanh"): Value =>
  activation === "tanh" ? g.op(name, "Tanh", [x]) : activationFormulas[activation](g, name, x);
