import type { Attribute } from "../../sdk/src/build/graph/attribute.ts";
import { type Dim, symbol } from "../../sdk/src/build/graph/dim.ts";
import { Graph } from "../../sdk/src/build/graph/graph.ts";
import { MICROSOFT, type NodeOptions, type Value } from "../../sdk/src/build/graph/node.ts";
import type { DataType, Tensor } from "../../sdk/src/build/graph/tensor.ts";

export interface NamedValue {
  name: string;
  dtype: DataType;
  /** A string is a symbol. */
  shape: readonly (number | string)[];
}

/** Writes a graph by the names of its values: tests read like lists of operators. */
export class NamedGraph {
  readonly graph: Graph;
  readonly #values = new Map<string, Value>();

  constructor(name: string, inputs: readonly NamedValue[], opset = 17) {
    this.graph = new Graph(name);
    this.graph.opsets.set("", opset);
    for (const { name: input, dtype, shape } of inputs) {
      const dims: Dim[] = shape.map((dim) => (typeof dim === "number" ? dim : symbol(dim)));
      this.#values.set(input, this.graph.input(input, { dtype, shape: dims }));
    }
  }

  constant(name: string, value: Tensor): string {
    if (!this.#values.has(name)) this.#values.set(name, this.graph.constant(name, value));
    return name;
  }

  /** Adds a node of one output, which is named after it; `""` is an input that is left out. */
  op(name: string, opType: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    return this.#add(name, opType, inputs, { attributes });
  }

  contrib(name: string, opType: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    return this.#add(name, opType, inputs, { domain: MICROSOFT, attributes });
  }

  outputs(...names: readonly string[]): Graph {
    for (const name of names) this.graph.outputs.push({ name, value: this.#value(name), declaration: undefined });
    return this.graph;
  }

  #add(name: string, opType: string, inputs: readonly string[], options: NodeOptions): string {
    const values = inputs.map((input) => (input === "" ? undefined : this.#value(input)));
    this.#values.set(name, this.graph.add(opType, values, { name, ...options }).output);
    return name;
  }

  #value(name: string): Value {
    const value = this.#values.get(name);
    if (!value) throw new Error(`nothing is named ${name}`);
    return value;
  }
}
