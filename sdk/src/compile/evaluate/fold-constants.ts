import { isStatic } from "../graph/dim.ts";
import type { Graph } from "../graph/graph.ts";
import type { Node, Value } from "../graph/node.ts";
import { isRandom } from "../graph/operators.ts";
import { byteLength, elementCount, elementSize, type Tensor } from "../graph/tensor.ts";
import { transposedMatrix } from "../graph/tensor-math.ts";
import { dimsTensor } from "./probe.ts";
import { runSubgraph } from "./run-subgraph.ts";

/** Operators that are never folded, because folding would undo the quantization of weights. */
const quantizationOperators = new Set(["DequantizeLinear", "QuantizeLinear", "DynamicQuantizeLinear"]);

/** Maximum bytes that folding one node may add to the file. */
const MAX_GROWTH_BYTES = 1 << 20;

/**
 * Minimum bytes of results in a complete batch. onnxruntime computes the results of one batch at a time, to limit memory.
 */
const BATCH_BYTES = 8 << 20;

/** Computes the values that depend only on constants and fixed sizes, and stores them as constants. */
export async function foldConstants(graph: Graph): Promise<void> {
  foldSizes(graph);
  foldTransposes(graph);
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
  for (const batch of batches(wanted)) await replaceByResults(graph, batch);
  graph.prune();
}

/** Folds shape arithmetic whose result does not depend on the batch size or the sequence length. */
function foldSizes(graph: Graph): void {
  for (const node of graph.nodes) {
    const [value] = node.outputs;
    if (!value?.content || !isStatic(value.shape)) continue;
    const constant = dimsTensor(value.dtype, value.shape, value.content);
    if (constant) graph.replace(value, graph.constant(value.name, constant));
  }
  graph.prune();
}

/** Replaces transposed weight matrices by lazy constants. A lazy constant is computed only when it is read. */
function foldTransposes(graph: Graph): void {
  for (const node of graph.nodes) {
    const matrix = node.is("Transpose") ? node.inputs[0]?.constant : undefined;
    if (matrix?.shape.length !== 2 || node.ints("perm")?.[0] === 0 || !isFoldable(node)) continue;
    graph.replace(node.output, graph.constant(node.output.name, transposedMatrix(matrix)));
  }
  graph.prune();
}

/**
 * Computes values with onnxruntime and replaces them by constants. If onnxruntime fails, tries each half of the list
 * separately. In the end, only the values that cannot be computed stay unchanged.
 */
async function replaceByResults(graph: Graph, values: readonly Value[]): Promise<void> {
  const results = await runSubgraph(graph, values, new Map());
  const middle = Math.ceil(values.length / 2);
  if (results) {
    for (const [i, value] of values.entries()) graph.replace(value, graph.constant(value.name, results[i] as Tensor));
  } else if (middle < values.length) {
    await replaceByResults(graph, values.slice(0, middle));
    await replaceByResults(graph, values.slice(middle));
  }
}

function isFoldable(node: Node): boolean {
  if (quantizationOperators.has(node.opType) || isRandom(node) || node.captures.length > 0) return false;
  // Folds a product of constants however large it is. Otherwise, every run would compute it again.
  if (node.is("MatMul")) return true;
  if (Object.values(node.attributes).some(({ kind }) => kind === "other")) return false;
  // Counts only constants that no other node reads, because only these disappear from the file.
  const before = node.inputs.reduce(
    (sum, input) => sum + (input?.constant && input.users.size === 1 ? byteLength(input.constant) : 0),
    0,
  );
  const after = node.outputs.reduce((sum, output) => sum + (output ? bytesOf(output) : 0), 0);
  return after <= before + MAX_GROWTH_BYTES;
}

/** Returns the size of a value in bytes; infinite if unknown. */
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
