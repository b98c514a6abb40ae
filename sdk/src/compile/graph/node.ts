import type { AttributeProto, NodeProto, TensorProto } from "../proto/onnx-messages.ts";
import type { Dim, Shape } from "./dim.ts";
import type { DataType, Tensor } from "./tensor.ts";

/**
 * A constant parameter of a node. It keeps the attribute types of ONNX, because a model file distinguishes the integer 1
 * from the float 1.0.
 */
export type Attribute =
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "ints"; readonly value: readonly number[] }
  | { readonly kind: "floats"; readonly value: readonly number[] }
  | { readonly kind: "tensor"; readonly value: Tensor }
  /**
   * An attribute that no rewrite reads: a sub-graph, a type or a reference to a function's parameter. It is written back
   * unchanged.
   */
  | { readonly kind: "other"; readonly value: AttributeProto };

export const int = (value: number): Attribute => ({ kind: "int", value });
export const float = (value: number): Attribute => ({ kind: "float", value });
export const ints = (...value: number[]): Attribute => ({ kind: "ints", value });

/** Domain of onnxruntime's own operators: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md */
export const MICROSOFT = "com.microsoft";

/** A tensor in a graph, with the node that produces it and the nodes that read it. */
export class Value {
  name: string;
  /** Node that computes the value; undefined for inputs of the graph and for constants. */
  readonly producer: Node | undefined;
  /** Nodes that read the value, themselves or in their sub-graphs. Maintained by `Graph`. */
  readonly users = new Set<Node>();
  /** The tensor, if the value is a constant. */
  readonly constant: Tensor | undefined;
  /** A constant of a type that no rewrite reads. Kept unchanged. */
  readonly opaque: TensorProto | undefined;
  /** Element type, declared or inferred; undefined if unknown. */
  dtype: DataType | undefined;
  /** Shape, declared or inferred; undefined if unknown. */
  shape: Shape | undefined;
  /** Elements of an integer scalar or vector that is computed from sizes. Booleans are 0 and 1. */
  content: readonly Dim[] | undefined;

  constructor(
    name: string,
    { producer, constant, opaque }: { producer?: Node; constant?: Tensor; opaque?: TensorProto } = {},
  ) {
    this.name = name;
    this.producer = producer;
    this.constant = constant;
    this.opaque = opaque;
    this.dtype = constant?.dtype;
    this.shape = constant?.shape;
  }

  /** Whether the value is a constant. Includes constants of a type that no rewrite reads. */
  get isConstant(): boolean {
    return this.constant !== undefined || this.opaque !== undefined;
  }
}

export interface NodeOptions {
  /** Default: the operator's name and a number. */
  name?: string | undefined;
  /** Default: `""`, ONNX's own domain. */
  domain?: string;
  attributes?: Readonly<Record<string, Attribute>>;
  /** Names of the outputs; `""` for an optional output that is left out. Default: one output with the node's name. */
  outputs?: readonly string[];
  /** Values of the enclosing graph that the node's sub-graphs read. */
  captures?: readonly Value[];
  /** Name, in the original file, of the node that this node replaces. Default: the name of this node. */
  origin?: string;
  /** The node as the file stores it. Holds the fields that `Node` does not have: documentation, metadata, overload. */
  proto?: NodeProto | undefined;
}

/** A node of a graph. Its inputs change only through `Graph`. */
export class Node {
  readonly name: string;
  /** Name, in the original file, of this node or of the node it replaces. Users find this name in a model viewer. */
  readonly origin: string;
  readonly opType: string;
  readonly domain: string;
  inputs: readonly (Value | undefined)[];
  readonly outputs: readonly (Value | undefined)[];
  readonly attributes: Readonly<Record<string, Attribute>>;
  captures: readonly Value[];
  readonly proto: NodeProto | undefined;

  constructor(opType: string, inputs: readonly (Value | undefined)[], name: string, options: NodeOptions) {
    this.opType = opType;
    this.inputs = inputs;
    this.name = name;
    this.origin = options.origin ?? options.name ?? name;
    this.domain = options.domain === "ai.onnx" ? "" : (options.domain ?? "");
    this.attributes = options.attributes ?? {};
    this.captures = options.captures ?? [];
    this.proto = options.proto;
    this.outputs = (options.outputs ?? [name]).map((output) =>
      output === "" ? undefined : new Value(output, { producer: this }),
    );
  }

  /** The first output. Most operators have only one. */
  get output(): Value {
    return this.outputs[0] as Value;
  }

  int(attribute: string): number | undefined {
    const found = this.attributes[attribute];
    return found?.kind === "int" ? found.value : undefined;
  }

  float(attribute: string): number | undefined {
    const found = this.attributes[attribute];
    return found?.kind === "float" ? found.value : undefined;
  }

  ints(attribute: string): readonly number[] | undefined {
    const found = this.attributes[attribute];
    return found?.kind === "ints" ? found.value : undefined;
  }

  string(attribute: string): string | undefined {
    const found = this.attributes[attribute];
    return found?.kind === "string" ? found.value : undefined;
  }

  is(opType: string, domain = ""): boolean {
    return this.opType === opType && this.domain === domain;
  }
}
