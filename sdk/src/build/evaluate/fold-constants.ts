import { isStatic } from "../graph/dim.ts";
import type { Graph, Node, Value } from "../graph/graph.ts";
import { elementCount, elementSize, type Tensor, tensor } from "../graph/tensor.ts";
import { numbers } from "../shapes/rule.ts";
import { runSubgraph } from "./run-subgraph.ts";

/** Weights are quantized on purpose: computing them in advance would undo it. */
const kept = new Set(["DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear"]);

const random = new Set([
  "RandomNormal",
  "RandomUniform",
  "RandomNormalLike",
  "RandomUniformLike",
  "Multinomial",
  "Bernoulli",
]);

/** A result may be this much larger than what it is computed from; beyond it, a file would grow for little. */
const MAX_GROWTH_BYTES = 1 << 20;

/** Bytes of constants that go through onnxruntime in one call, to bound memory. */
const BATCH_BYTES = 64 << 20;

/** Replaces what depends on constants and fixed sizes alone by its value. */
export async function foldConstants(graph: Graph): Promise<void> {
  foldSizes(graph);
  const foldable = new Set<Node>();
  const isKnown = (value: Value | undefined) =>
    value === undefined ||
    value.constant !== undefined ||
    (value.producer !== undefined && foldable.has(value.producer));
  for (const node of graph.sorted()) {
    if (node.inputs.every(isKnown) && isFoldable(node)) foldable.add(node);
  }
  const wanted = [...foldable]
    .flatMap(({ outputs }) => outputs)
    .filter((value) => value !== undefined)
    .filter((value) => graph.isOutput(value) || [...value.users].some((user) => !foldable.has(user)));
  for (const batch of batches(wanted)) {
    const results = await runSubgraph(graph, batch, new Map());
    results?.forEach((result, i) => {
      const value = batch[i] as Value;
      graph.replace(value, graph.constant(value.name, result));
    });
  }
  graph.prune();
}

/** Shape arithmetic whose result does not depend on batch or sequence. */
function foldSizes(graph: Graph): void {
  for (const node of graph.nodes) {
    const value = node.output;
    const content = value && numbers(value);
    if (!content || !isStatic(value.shape) || content.length !== elementCount(value.shape)) continue;
    const constant = sizesTensor(value, content);
    if (constant) graph.replace(value, graph.constant(value.name, constant));
  }
  graph.prune();
}

function sizesTensor({ dtype, shape }: Value, content: readonly number[]): Tensor | undefined {
  if (!isStatic(shape)) return undefined;
  if (dtype === "int64") return tensor(dtype, shape, BigInt64Array.from(content, BigInt));
  if (dtype === "int32") return tensor(dtype, shape, Int32Array.from(content));
  if (dtype === "bool") return tensor(dtype, shape, Uint8Array.from(content));
  return undefined;
}

function isFoldable(node: Node): boolean {
  if (kept.has(node.opType) || random.has(node.opType) || node.captures.length > 0) return false;
  if (Object.values(node.attributes).some(({ kind }) => kind === "other")) return false;
  const before = node.inputs.reduce((sum, input) => sum + (input?.constant?.data.length ?? 0), 0);
  const after = node.outputs.reduce((sum, output) => sum + (output ? bytesOf(output) : 0), 0);
  return after <= before + MAX_GROWTH_BYTES;
}

/** Infinite where the size is not known. */
const bytesOf = ({ dtype, shape }: Value): number =>
  dtype && isStatic(shape) ? elementCount(shape) * elementSize[dtype] : Number.POSITIVE_INFINITY;

function* batches(values: readonly Value[]): Generator<Value[]> {
  let batch: Value[] = [];
  let bytes = 0;
  for (const value of values) {
    bytes += bytesOf(value);
    batch.push(value);
    if (bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
