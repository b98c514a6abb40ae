import type { Attribute } from "../graph/attribute.ts";
import { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";

/** The first opset with LayerNormalization. */
const OPSET = 17;

/** Writes a graph node by node, in calls that read like formulas. */
export class GraphWriter {
  readonly graph: Graph;
  readonly #constants = new Map<string, Value>();

  constructor(name: string) {
    this.graph = new Graph(name);
    this.graph.opsets.set("", OPSET);
  }

  /** Returns the constant of a name; creates it at the first call. */
  constant(name: string, value: Tensor): Value {
    const known = this.#constants.get(name) ?? this.graph.constant(name, value);
    this.#constants.set(name, known);
    return known;
  }

  /** Adds a node with one output, which gets the node's name. */
  op(name: string, opType: string, inputs: readonly Value[], attributes: Record<string, Attribute> = {}): Value {
    return this.graph.add(opType, inputs, { name, attributes }).output;
  }
}
