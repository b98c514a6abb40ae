import type { NodeProto, TensorProto } from "../proto/onnx-messages.ts";
import type { Attribute } from "./attribute.ts";
import type { Dim, Shape } from "./dim.ts";
import type { DataType, Tensor } from "./tensor.ts";

/** onnxruntime's own operators: https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md */
export const MICROSOFT = "com.microsoft";

/** One tensor of a computation, with the node that makes it and the nodes that read it. */
export class Value {
  name: string;
  /** Undefined for a graph's inputs and constants. */
  readonly producer: Node | undefined;
  /** Nodes that read the value, in their sub-graphs too. Kept by `Graph`. */
  readonly users = new Set<Node>();
  /** The value, when it is a constant. */
  readonly constant: Tensor | undefined;
  /** A constant of a type that no rewrite reads, as the file has it. */
  readonly opaque: TensorProto | undefined;
  /** What is known of the value, by declaration or inference; undefined where nothing is. */
  dtype: DataType | undefined;
  shape: Shape | undefined;
  /** The elements of an integer scalar or vector that is computed from sizes; booleans are 0 and 1. */
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

  /** True for constants, readable or not: nothing can change the value. */
  get isConstant(): boolean {
    return this.constant !== undefined || this.opaque !== undefined;
  }
}

export interface NodeOptions {
  /** Default: made from the operator's name. */
  name?: string | undefined;
  /** `""`, the default, is ONNX's own domain. */
  domain?: string;
  attributes?: Readonly<Record<string, Attribute>>;
  /** Names of the outputs, `""` for one that is left out. Default: one, named after the node. */
  outputs?: readonly string[];
  /** Values of the enclosing graph that the node's sub-graphs read. */
  captures?: readonly Value[];
  /** The node of the original file that it comes from. Default: itself. */
  origin?: string;
  /** The node as its file has it, for what is not represented here (documentation, metadata, overload). */
  proto?: NodeProto | undefined;
}

/** One operator. Its inputs change only through `Graph`. */
export class Node {
  readonly name: string;
  /** Name of the node of the original file that it stands for: what a user finds in a viewer. */
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

  /** The first output, which most operators have alone. */
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
