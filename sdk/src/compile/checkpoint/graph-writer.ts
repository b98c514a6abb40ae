import type { Attribute } from "../graph/attribute.ts";
import { Graph } from "../graph/graph.ts";
import type { Value } from "../graph/node.ts";
import type { Tensor } from "../graph/tensor.ts";

/** The first with LayerNormalization as an operator. */
const OPSET = 17;

/** Writes a graph node by node, as one writes formulas. */
export class GraphWriter {
  readonly graph: Graph;
  readonly #constants = new Map<string, Value>();

  constructor(name: string) {
    this.graph = new Graph(name);
    this.graph.opsets.set("", OPSET);
  }

  /** A constant; the same name again is the same constant. */
  constant(name: string, value: Tensor): Value {
    const known = this.#constants.get(name) ?? this.graph.constant(name, value);
    this.#constants.set(name, known);
    return known;
  }

  /** An operator of one output, which is named after it. */
  op(name: string, opType: string, inputs: readonly Value[], attributes: Record<string, Attribute> = {}): Value {
    return this.graph.add(opType, inputs, { name, attributes }).output;
  }
}
