import { BertEdgeError } from "../../artifact/error.ts";
import type { TensorProto, ValueInfoProto } from "../proto/onnx-messages.ts";
import { Node, type NodeOptions, Value } from "./node.ts";
import type { Tensor } from "./tensor.ts";

/** One of a graph's results: its public name, and the value that it is now. */
export interface Output {
  readonly name: string;
  value: Value;
  readonly declaration: ValueInfoProto | undefined;
}

/**
 * A computation in single-assignment form. Nodes keep no order; `sorted` gives one. All edits go through the methods, which
 * keep the links between values and their users.
 */
export class Graph {
  readonly name: string;
  readonly inputs: Value[] = [];
  /** How the file declares each input. */
  readonly declarations = new Map<Value, ValueInfoProto>();
  /** Inputs that have a value when the caller gives none. */
  readonly defaults = new Map<Value, TensorProto>();
  readonly outputs: Output[] = [];
  readonly nodes = new Set<Node>();
  /** Version of each domain's operators, ONNX's own under `""`. */
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

  /** A constant; it becomes part of the graph when a node reads it. */
  constant(name: string, tensor: Tensor): Value {
    return new Value(this.#fresh(this.#valueNames, name), { constant: tensor });
  }

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

  /** Lets a node read other values. */
  setInputs(node: Node, inputs: readonly (Value | undefined)[], captures = node.captures): void {
    for (const value of readBy(node)) value.users.delete(node);
    node.inputs = inputs;
    node.captures = captures;
    for (const value of readBy(node)) value.users.add(node);
  }

  /**
   * Lets everything that reads `before` read `after`: nodes and outputs. Sub-graphs name what they read, so a value that one
   * of them reads stays, as an output too.
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

  /** Keeps names from being given to new nodes and values: those that sub-graphs use for their own. */
  reserve(names: Iterable<string>): void {
    for (const name of names)
      for (const taken of [this.#nodeNames, this.#valueNames]) taken.set(name, taken.get(name) ?? 0);
  }

  /** Removes `from` and what it read, as far as nothing uses it. */
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
   * Nodes in an order in which every one comes after those it reads from, the order of insertion wherever that is such.
   *
   * @throws BertEdgeError `graph_invalid` when nodes read from each other in a circle
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
          throw new BertEdgeError("graph_invalid", `Node ${circular.name} (${circular.opType}) reads its own result.`, {
            hint: "A model is a graph without circles; export it again.",
          });
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

  /** All constants that nodes or outputs read. */
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

/** The values a node reads, in its sub-graphs too. */
const readBy = (node: Node): Value[] => [...node.inputs, ...node.captures].filter((value) => value !== undefined);

const producersOf = (node: Node): Node[] => readBy(node).flatMap((value) => value.producer ?? []);
