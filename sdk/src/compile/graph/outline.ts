import type { Graph } from "./graph.ts";
import type { Node, Value } from "./node.ts";
import { type RepeatedBlock, repeatedBlocks } from "./repeated-blocks.ts";
import { byteLength } from "./tensor.ts";

/** Constants of fewer bytes are settings, such as axes and scales, not weights. */
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
