import { ortSession } from "../../evaluate/ort-session.ts";
import { toOrt } from "../../evaluate/ort-tensor.ts";
import type { TokenBatch } from "../../evaluate/token-batches.ts";
import { int } from "../../graph/attribute.ts";
import { copyGraph } from "../../graph/copy-graph.ts";
import type { Graph } from "../../graph/graph.ts";
import type { Node, Value } from "../../graph/node.ts";
import { isSingle, nodesInHalf } from "./nodes-in-half.ts";

/** Half precision ends at 65504; texts that were not tried reach a few times as far as those that were. */
const SAFE = 65_504 / 4;

/**
 * Nodes of a float32 graph that would overflow in half precision: those whose results on some texts come near its end, and
 * those that read such. onnxruntime's CPU computes half precision in float32, so running the result there does not show it.
 *
 * @param batches inputs by name; those that the graph does not run on are left out
 * @returns names of nodes, for `toFp16`
 */
export async function overflowingNodes(fused: Graph, batches: readonly TokenBatch[]): Promise<Set<string>> {
  const graph = copyGraph(fused);
  const halves = [...nodesInHalf(graph)];
  const peaks = new Map(halves.flatMap(({ outputs }) => outputs.filter(isWorthwhile)).map((value) => [value, 0]));
  const values = [...peaks.keys()];
  graph.outputs.length = 0;
  values.forEach((value, i) => {
    const size = graph.add("Abs", [value]).output;
    const peak = graph.add("ReduceMax", [size], { attributes: { keepdims: int(0) } }).output;
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
  // NaN is not below it either.
  const isSafe = (value: Value | undefined) =>
    value === undefined || !peaks.has(value) || (peaks.get(value) ?? 0) <= SAFE;
  const overflows = ({ inputs, outputs }: Node) => ![...inputs, ...outputs].every(isSafe);
  return new Set(halves.filter(overflows).map(({ name }) => name));
}

const isWorthwhile = (value: Value | undefined): value is Value =>
  value !== undefined && isSingle(value) && value.users.size > 0;
