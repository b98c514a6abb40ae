import { BertEdgeError } from "../../artifact/error.ts";
import type { Attribute, Domain, Graph, Node, ValueInfo } from "./plain.ts";
import { verify } from "./plain-verify.ts";
import type { Tensor } from "./tensor.ts";

interface NodeOptions {
  domain?: Domain;
  attributes?: Record<string, Attribute>;
}

/** Writes a graph front to back: every method returns the name of the value it made. */
export class GraphBuilder {
  readonly #nodes: Node[] = [];
  readonly #initializers = new Map<string, Tensor>();

  /** Adds a constant. Adding the same tensor under the same name again is one constant. */
  constant(name: string, value: Tensor): string {
    const known = this.#initializers.get(name);
    if (known && known !== value) {
      throw new BertEdgeError("graph_invalid", `Two different constants are named ${name}.`);
    }
    this.#initializers.set(name, value);
    return name;
  }

  /** Adds a node with one output, which is named after it. */
  op(name: string, opType: string, inputs: string[], { domain = "", attributes = {} }: NodeOptions = {}): string {
    this.node({ name, opType, domain, inputs, outputs: [name], attributes });
    return name;
  }

  /** Adds a node of onnxruntime's own domain. */
  contrib(name: string, opType: string, inputs: string[], attributes: Record<string, Attribute> = {}): string {
    return this.op(name, opType, inputs, { domain: "com.microsoft", attributes });
  }

  node(node: Node): void {
    this.#nodes.push(node);
  }

  /** @throws BertEdgeError `graph_invalid` */
  build(name: string, inputs: readonly ValueInfo[], outputs: readonly ValueInfo[]): Graph {
    const used = new Set(this.#nodes.flatMap((node) => node.inputs));
    const initializers = new Map([...this.#initializers].filter(([key]) => used.has(key)));
    const graph = { name, inputs, outputs, initializers, nodes: this.#nodes };
    verify(graph);
    return graph;
  }
}
