import type * as ort from "onnxruntime-node";
import { ortFileSession } from "#sdk/compile/evaluate/ort-session.ts";
import { fuseGraph } from "#sdk/compile/fusions/fuse-graph.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { toOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import type { ModelProto } from "#sdk/compile/proto/onnx-messages.ts";
import type { Trace } from "#sdk/compile/rewrite/trace.ts";

/** Tensors by input name or by output name. */
export type Tensors = Readonly<Record<string, ort.Tensor>>;

/** onnxruntime's own graph optimization level. */
export type Rewriting = "disabled" | "all";
export const rewritings: readonly Rewriting[] = ["disabled", "all"];

/** onnxruntime's log level for fatal errors only, because tests cause other errors on purpose. */
const LOG_FATAL = 4;

/** Runs a model, given as bytes or as a path, on each of `feeds`. */
export async function runModel(
  model: Uint8Array<ArrayBuffer> | string,
  feeds: readonly Tensors[],
  rewriting: Rewriting = "disabled",
): Promise<Tensors[]> {
  const options = { graphOptimizationLevel: rewriting, intraOpNumThreads: 1, logSeverityLevel: LOG_FATAL } as const;
  const session = await ortFileSession(model, options);
  try {
    const results: Tensors[] = [];
    for (const feed of feeds) results.push((await session.run(feed)) as Tensors);
    return results;
  } finally {
    await session.release();
  }
}

/** Fuses the operators of a model. Returns the fused graph, the encoded file and the trace of the rules. */
export async function optimized(
  model: ModelProto,
): Promise<{ graph: Graph; trace: Trace; bytes: Uint8Array<ArrayBuffer> }> {
  const graph = fromOnnx(model);
  const trace = await fuseGraph(graph);
  return { graph, trace, bytes: encodeModel(toOnnx(graph, model)).finish() };
}

/** Fused operators, in ONNX's or onnxruntime's domain. */
const fusedOperators = [
  "EmbedLayerNormalization",
  "Attention",
  "SkipLayerNormalization",
  "BiasGelu",
  "FastGelu",
  "LayerNormalization",
  "MultiHeadAttention",
  "RotaryEmbedding",
  "Gelu",
  "QuickGelu",
];

/** Counts fused operators. Operators that do not occur are absent. */
export function fusedCounts(nodes: Iterable<{ readonly opType?: string | undefined }>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { opType = "" } of nodes) if (fusedOperators.includes(opType)) counts[opType] = (counts[opType] ?? 0) + 1;
  return counts;
}

/**
 * Returns the largest difference between two elements at the same index; infinity if only one of the two is NaN.
 *
 * @throws RangeError if the outputs have different names, types or shapes
 */
export function largestOutputDifference(found: Tensors, wanted: Tensors): number {
  const signature = (tensors: Tensors) =>
    Object.entries(tensors)
      .map(([name, { type, dims }]) => `${name}: ${type}[${dims}]`)
      .sort()
      .join();
  if (signature(found) !== signature(wanted)) {
    throw new RangeError(`The outputs are ${signature(found)} instead of ${signature(wanted)}.`);
  }
  return Math.max(
    0,
    ...Object.entries(wanted).map(([name, { data }]) => differenceOf((found[name] as ort.Tensor).data, data)),
  );
}

type Elements = ort.Tensor["data"];

function differenceOf(found: Elements, wanted: Elements): number {
  let largest = 0;
  for (let i = 0; i < wanted.length; i++) {
    const [a, b] = [Number(found[i]), Number(wanted[i])];
    if (Object.is(a, b)) continue;
    const difference = a === b ? 0 : Math.abs(a - b);
    largest = Math.max(largest, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }
  return largest;
}
