import type { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { byteLength } from "./tensor.ts";

/** Minimum bytes of a weight. Smaller constants are settings, such as axes and scales. */
const MIN_WEIGHT_BYTES = 256;

/** A graph in a form that people read: its operators with the shapes of weights and results. */
export interface Outline {
  readonly nodes: number;
  readonly weightBytes: number;
  /** Number of nodes for each operator, the most frequent first. */
  readonly operators: Readonly<Record<string, number>>;
  /** The nodes in an order in which they can run. Repeated layers are folded. */
  readonly blocks: readonly RepeatedBlock<OutlineNode>[];
}

export interface OutlineNode {
  /** Operator, with its domain if it is not ONNX's own: `com.microsoft.Attention`. */
  readonly operator: string;
  readonly weights: readonly OutlineWeight[];
  /** Type and shape of the first result, such as `float32[batch, sequence, 384]`. */
  readonly result: string;
}

export interface OutlineWeight {
  /** Type and shape, such as `float32[384, 1536]`. */
  readonly type: string;
  readonly bytes: number;
}

/** Describes a graph whose shapes are inferred. */
export function outlineOf(graph: Graph): Outline {
  const weights = [...graph.constants()].flatMap(({ constant }) => constant ?? []);
  return outline(
    graph.sorted().map(outlineNode),
    weights.reduce((sum, weight) => sum + byteLength(weight), 0),
  );
}

/** Counts operators and folds layers. */
export function outline(nodes: readonly OutlineNode[], weightBytes: number): Outline {
  const counts = new Map<string, number>();
  for (const { operator } of nodes) counts.set(operator, (counts.get(operator) ?? 0) + 1);
  return {
    nodes: nodes.length,
    weightBytes,
    operators: Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a)),
    blocks: repeatedBlocks(nodes, (node) => JSON.stringify(node)),
  };
}

const outlineNode = ({ domain, opType, inputs, outputs }: Node): OutlineNode => ({
  operator: domain === "" ? opType : `${domain}.${opType}`,
  weights: inputs.flatMap((value) => {
    const bytes = value?.constant ? byteLength(value.constant) : 0;
    return value && bytes >= MIN_WEIGHT_BYTES ? [{ type: typeOf(value), bytes }] : [];
  }),
  result: outputs[0] ? typeOf(outputs[0]) : "nothing",
});

const typeOf = ({ dtype, shape }: Value): string => `${dtype ?? "?"}${shape ? `[${shape.join(", ")}]` : ""}`;

/** A block of items that occurs `count` times in a row. */
export interface RepeatedBlock<T> {
  /** The items of the first occurrence. */
  readonly items: readonly T[];
  readonly count: number;
}

/**
 * Folds repetitions in a list: the layers of a model, or equal nodes that follow each other. Of all repetitions that
 * begin at an item, folds the one that covers the most items. If several cover as many, folds the one with the shortest block.
 *
 * @param keyOf returns the key of an item; items with equal keys count as equal
 */
export function repeatedBlocks<T>(items: readonly T[], keyOf: (item: T) => string): RepeatedBlock<T>[] {
  const ids = new Map<string, number>();
  const keys = items.map((item) => {
    const key = keyOf(item);
    const id = ids.get(key) ?? ids.size;
    ids.set(key, id);
    return id;
  });
  const blocks: RepeatedBlock<T>[] = [];
  let single: T[] = [];
  const endSingle = () => {
    if (single.length > 0) blocks.push({ items: single, count: 1 });
    single = [];
  };
  for (let at = 0; at < items.length; ) {
    const { size, count } = longestRepetition(keys, at);
    if (count === 1) {
      single.push(items[at++] as T);
      continue;
    }
    endSingle();
    blocks.push({ items: items.slice(at, at + size), count });
    at += size * count;
  }
  endSingle();
  return blocks;
}

function longestRepetition(keys: readonly number[], at: number): { size: number; count: number } {
  let best = { size: 1, count: 1 };
  for (let size = 1; at + 2 * size <= keys.length; size++) {
    let equal = 0;
    while (at + size + equal < keys.length && keys[at + equal] === keys[at + size + equal]) equal++;
    const count = 1 + Math.floor(equal / size);
    if (count > 1 && count * size > best.count * best.size) best = { size, count };
  }
  return best;
}
