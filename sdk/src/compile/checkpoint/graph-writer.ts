import { Graph } from "../graph/graph.ts";
import type { Attribute, Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";

/** First opset with LayerNormalization. */
const OPSET = 17;

/** Writes a graph node by node, with calls that read like formulas. */
export class GraphWriter {
  readonly graph: Graph;
  readonly #constants = new Map<string, Value>();

  constructor(name: string) {
    this.graph = new Graph(name);
    this.graph.opsets.set("", OPSET);
  }

  /** Returns the constant with this name; the first call creates it. */
  constant(name: string, value: Tensor): Value {
    const known = this.#constants.get(name) ?? this.graph.constant(name, value);
    this.#constants.set(name, known);
    return known;
  }

  /** Adds a node with one output. Node and output have the same name. */
  op(name: string, opType: string, inputs: readonly Value[], attributes: Record<string, Attribute> = {}): Value {
    return this.graph.add(opType, inputs, { name, attributes }).output;
  }
}
