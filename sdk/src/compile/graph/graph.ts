import { BertEdgeError } from "../../artifact/error.ts";
import type { TensorProto, ValueInfoProto } from "../proto/onnx-messages.ts";
import { Node, type NodeOptions, Value } from "./node.ts";
import type { Tensor } from "./tensor.ts";

/** An output of a graph: its public name, and the value that currently computes it. */
export interface Output {
  readonly name: string;
  value: Value;
  readonly declaration: ValueInfoProto | undefined;
}

/**
 * A model's computation as nodes and values, in which no value is assigned twice. Nodes are unordered; `sorted` orders
 * them. Edit a graph only through its methods, which maintain the links between values and their users.
 */
export class Graph {
  readonly name: string;
  readonly inputs: Value[] = [];
  /** Declaration of each input in the model file. */
  readonly declarations = new Map<Value, ValueInfoProto>();
  /** Default values of inputs that the caller may leave out. */
  readonly defaults = new Map<Value, TensorProto>();
  readonly outputs: Output[] = [];
  readonly nodes = new Set<Node>();
  /** Operator set version by domain. ONNX's own domain is `""`. */
  readonly opsets = new Map<string, number>();
  readonly #nodeNames = new Map<string, number>();
  readonly #valueNames = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  input(
    name: string,
    { dtype, shape }: Pick<Value, "dtype" | "shape"> = { dtype: undefined, shape: undefined },
  ): Value {
    const value = new Value(this.#fresh(this.#valueNames, name));
    value.dtype = dtype;
    value.shape = shape;
    this.inputs.push(value);
    return value;
  }

  /** Creates a constant. It becomes part of the graph when a node reads it. */
  constant(name: string, tensor: Tensor): Value {
    return new Value(this.#fresh(this.#valueNames, name), { constant: tensor });
  }

  /** Creates a constant of a type that no rewrite reads, such as strings. */
  opaque(name: string, proto: TensorProto): Value {
    return new Value(this.#fresh(this.#valueNames, name), { opaque: proto });
  }

  add(opType: string, inputs: readonly (Value | undefined)[], options: NodeOptions = {}): Node {
    const name = this.#fresh(this.#nodeNames, options.name ?? opType);
    const outputs = (options.outputs ?? [name]).map((output) => output && this.#fresh(this.#valueNames, output));
    const node = new Node(opType, inputs, name, { ...options, outputs });
    this.nodes.add(node);
    for (const value of readBy(node)) value.users.add(node);
    return node;
  }

  /** Replaces the inputs of a node. */
  setInputs(node: Node, inputs: readonly (Value | undefined)[], captures = node.captures): void {
    for (const value of readBy(node)) value.users.delete(node);
    node.inputs = inputs;
    node.captures = captures;
    for (const value of readBy(node)) value.users.add(node);
  }

  /**
   * Makes all nodes and graph outputs that read `before` read `after` instead. A sub-graph refers to `before` by name,
   * so it keeps reading `before`. If there is such a sub-graph, the graph's outputs keep reading `before` too.
   */
  replace(before: Value, after: Value): void {
    for (const user of [...before.users]) {
      this.setInputs(
        user,
        user.inputs.map((input) => (input === before ? after : input)),
      );
    }
    if (before.users.size > 0) return;
    for (const output of this.outputs) if (output.value === before) output.value = after;
  }

  isOutput(value: Value): boolean {
    return this.outputs.some((output) => output.value === value);
  }

  isUsed(value: Value): boolean {
    return value.users.size > 0 || this.isOutput(value);
  }

  /** Reserves names that sub-graphs use, so that new nodes and values get other names. */
  reserve(names: Iterable<string>): void {
    for (const name of names)
      for (const taken of [this.#nodeNames, this.#valueNames]) taken.set(name, taken.get(name) ?? 0);
  }

  /**
   * Removes the nodes of `from` whose outputs are unused. Then also removes nodes whose outputs were read only by
   * removed nodes.
   */
  prune(from: Iterable<Node> = this.nodes): void {
    const stack = [...from];
    const results = new Set(this.outputs.map(({ value }) => value));
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (!this.nodes.has(node)) continue;
      if (node.outputs.some((value) => value && (value.users.size > 0 || results.has(value)))) continue;
      this.nodes.delete(node);
      for (const value of readBy(node)) {
        value.users.delete(node);
        if (value.producer) stack.push(value.producer);
      }
    }
  }

  /**
   * Returns the nodes sorted so that each comes after the nodes it reads. If the order in which the nodes were added is
   * valid, `sorted` keeps it.
   *
   * @throws BertEdgeError `graph_invalid` if nodes form a cycle
   */
  sorted(): Node[] {
    const done = new Set<Node>();
    const open = new Set<Node>();
    const order: Node[] = [];
    for (const root of this.nodes) {
      const stack = [root];
      for (let node = stack.at(-1); node; node = stack.at(-1)) {
        if (done.has(node)) {
          stack.pop();
          continue;
        }
        open.add(node);
        const sources = producersOf(node).filter((source) => !done.has(source));
        const circular = sources.find((source) => open.has(source));
        if (circular) {
          throw new BertEdgeError(
            "graph_invalid",
            `Node ${circular.name} (${circular.opType}) reads its own output, directly or through other nodes.`,
            {
              hint: "The file is not a valid model; export it again.",
            },
          );
        }
        if (sources.length > 0) for (const source of sources.reverse()) stack.push(source);
        else {
          done.add(node);
          open.delete(node);
          order.push(node);
          stack.pop();
        }
      }
    }
    return order;
  }

  /** Returns all constants that nodes or outputs read. */
  constants(): Set<Value> {
    const returned = this.outputs.map(({ value }) => value);
    return new Set([...[...this.nodes].flatMap(readBy), ...returned].filter((value) => value.isConstant));
  }

  #fresh(names: Map<string, number>, wanted: string): string {
    const count = names.get(wanted);
    names.set(wanted, (count ?? 0) + 1);
    return count === undefined ? wanted : this.#fresh(names, `${wanted}_${count}`);
  }
}

/** Returns the values that a node and its sub-graphs read. */
const readBy = (node: Node): Value[] => [...node.inputs, ...node.captures].filter((value) => value !== undefined);

const producersOf = (node: Node): Node[] => readBy(node).flatMap((value) => value.producer ?? []);
