import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { int } from "../../graph/attribute.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { isFloat32, nodesInHalf } from "./nodes-in-half.ts";

/**
 * A quarter of 65504, the maximum of float16, because other texts can have larger activations than the texts checked
 * here.
 */
const MAX_PEAK = 65_504 / 4;

/**
 * Finds the nodes of a float32 graph that could overflow in half precision: nodes with an input or result above
 * `MAX_PEAK` for some text. Running the fp16 graph on a CPU would not show overflows, because onnxruntime computes in
 * float32 on CPUs.
 *
 * @param batches inputs by name; batches that the graph cannot run are skipped
 * @returns names of the nodes, for `toFp16`
 */
export async function overflowingNodes(fused: Graph, batches: readonly TokenBatch[]): Promise<Set<string>> {
  const graph = copyGraph(fused);
  const halves = [...nodesInHalf(graph)];
  const peaks = new Map(halves.flatMap(({ outputs }) => outputs.filter(isUsedFloat)).map((value) => [value, 0]));
  const values = [...peaks.keys()];
  graph.outputs.length = 0;
  values.forEach((value, i) => {
    const magnitudes = graph.add("Abs", [value]).output;
    const peak = graph.add("ReduceMax", [magnitudes], { attributes: { keepdims: int(0) } }).output;
    graph.outputs.push({ name: `peak.${i}`, value: peak, declaration: undefined });
  });
  graph.prune();
  if (values.length === 0) return new Set();
  const session = await ortSession(graph, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  try {
    for (const batch of batches) {
      const feeds = [...batch].filter(([name]) => session.inputNames.includes(name));
      const results = await session
        .run(Object.fromEntries(feeds.map(([name, value]) => [name, toOrt(value)])))
        .catch(() => undefined);
      values.forEach((value, i) => {
        const peak = (results?.[`peak.${i}`]?.data as Float32Array | undefined)?.[0] ?? 0;
        peaks.set(value, Math.max(peaks.get(value) ?? 0, peak));
      });
    }
  } finally {
    await session.release();
  }
  // The comparison is false for NaN, so NaN counts as an overflow.
  const isSafe = (value: Value | undefined) =>
    value === undefined || !peaks.has(value) || (peaks.get(value) ?? 0) <= MAX_PEAK;
  const overflows = ({ inputs, outputs }: Node) => ![...inputs, ...outputs].every(isSafe);
  return new Set(halves.filter(overflows).map(({ name }) => name));
}

const isUsedFloat = (value: Value | undefined): value is Value =>
  value !== undefined && isFloat32(value) && value.users.size > 0;
